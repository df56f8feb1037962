# SPDX-License-Identifier: Apache-2.0
"""What jax-privacy reaches, run by an interpreter that has it: see benchmarks/participations.py.

Reads {"strategy", "n", "k", "b"} as JSON from its first argument, and prints {"seconds", "value"}:
CPU seconds of its optimiser and of what it compiles, and mean squared error times squared
sensitivity, as its own functions say them.
"""

import json
import sys
import time

import jax

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 (its own signature)

from jax_privacy.matrix_factorization import (  # noqa: E402 (numbers of 64 bits before all else)
    banded,
    buffered_toeplitz,
    dense,
    sensitivity,
    toeplitz,
)


def by_columns(n: int, k: int, b: int) -> float:
    found = banded.optimize(n, bands=b)
    error = float(banded.per_query_error(found).mean())
    return error * float(banded.minsep_sensitivity_squared(found, b, k, n))


def by_coefficients(n: int, k: int, b: int) -> float:
    found = toeplitz.optimize_banded_toeplitz(n, b)
    error = float(toeplitz.per_query_error(strategy_coef=found, n=n).mean())
    return error * float(toeplitz.minsep_sensitivity_squared(found, b, k, n))


def by_buffers(n: int, k: int, b: int) -> float:
    asked = {"n": n, "min_sep": b, "max_participations": k, "error": "mean"}
    found = buffered_toeplitz.optimize(**asked)
    return float(buffered_toeplitz.LossFn.build_min_sep(**asked).loss(found))


def by_matrices(n: int, k: int, b: int) -> float:
    assert n == k * b, "its dense strategies are for all rounds of k epochs"
    found = dense.optimize(n, epochs=k)
    error = float(dense.per_query_error(strategy_matrix=found).mean())
    return error * float(sensitivity.fixed_epoch_sensitivity(found, k)) ** 2


KINDS = {
    "banded": by_columns,
    "toeplitz": by_coefficients,
    "rational": by_buffers,
    "optimal": by_matrices,
}


def main() -> None:
    asked = json.loads(sys.argv[1])
    start = time.process_time()
    value = KINDS[asked["strategy"]](asked["n"], asked["k"], asked["b"])
    print(json.dumps({"seconds": time.process_time() - start, "value": value}))


if __name__ == "__main__":
    main()
