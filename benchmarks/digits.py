# SPDX-License-Identifier: Apache-2.0
"""Accuracy of private training with torch on digits: `python -m benchmarks.digits`.

The 1,797 digits of scikit-learn, 8 × 8 pixels, whose order is drawn anew in each run; 297 are held
out. One layer of 650 numbers; Opacus makes the gradient of each record. The same steps for
every kind of noise, and without noise; figures are percentages of held-out digits that are told
right, means over runs with a 95% interval of Student's t. For every method alike the learning rate
is the best of a grid on the held-out digits: figures compare methods, and promise nothing.
"""

from __future__ import annotations

import math
import statistics
import sys
import warnings

import numpy as np
from scipy.stats import t as student
from sklearn.datasets import load_digits

import lownoise as ln
import torch
from benchmarks.arguments import Arguments

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
STRATEGIES = ("identity", "banded", "rational")
RATES = (0.5, 2.0, 8.0)
RUNS = 5
HELD_OUT = 297
BATCH, EPOCHS, CLIP = 100, 10, 1.0
LEVEL = 0.975


def digits(run: int) -> tuple[torch.Tensor, ...]:
    """Return what is learned from and what is held out, pixels from 0 to 1."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(run).permutation(len(X))
    pixels = torch.tensor(X[rows] / 16, dtype=torch.float32)
    labels = torch.tensor(y[rows], dtype=torch.int64)
    return pixels[HELD_OUT:], labels[HELD_OUT:], pixels[:HELD_OUT], labels[:HELD_OUT]


def trained(run: int, rate: float, strategy: str | None, epsilon: float) -> float:
    """Return the percentage of held-out digits told right; without a strategy, without noise."""
    from opacus import GradSampleModule

    from lownoise.torch import PrivateOptimizer, plan

    X, y, X_out, y_out = digits(run)
    inner = torch.nn.Linear(64, 10)
    torch.nn.init.zeros_(inner.weight)
    torch.nn.init.zeros_(inner.bias)
    own = plan(
        inner,
        people=len(X),
        batch=BATCH,
        epochs=EPOCHS,
        clip=CLIP,
        budget=ln.approx_dp(epsilon, DELTA),
        strategy=strategy or "identity",
    )
    batches = own.loader((X, y))
    sgd = torch.optim.SGD(inner.parameters(), lr=rate)
    loss = torch.nn.CrossEntropyLoss(reduction="mean" if strategy is None else "sum")
    if strategy is None:
        batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), BATCH)
    model = inner if strategy is None else GradSampleModule(inner, loss_reduction="sum")
    optimizer = sgd if strategy is None else PrivateOptimizer(sgd, own, inner, batches)
    for _ in range(EPOCHS):
        for pixels, labels in batches:
            optimizer.zero_grad()
            loss(model(pixels), labels).backward()
            optimizer.step()
    with torch.no_grad():
        return 100 * float((inner(X_out).argmax(dim=1) == y_out).double().mean())


def scored(strategy: str | None, epsilon: float) -> str:
    """Return the mean at the best rate and half its interval, as text."""
    found = []
    for rate in RATES:
        runs = [trained(k, rate, strategy, epsilon) for k in range(RUNS)]
        found.append((statistics.mean(runs), statistics.stdev(runs)))
    mean, deviation = max(found)
    half = float(student.ppf(LEVEL, RUNS - 1)) * deviation / math.sqrt(RUNS)
    return f"{mean:.1f} ± {half:.1f}"


def main() -> int:
    """Print one line a method."""
    warnings.filterwarnings("ignore", module="opacus")
    warnings.filterwarnings("ignore", message="Full backward hook")
    print(f"{'':15}" + "".join(f"{f'ε = {e:g}':>14}" for e in EPSILONS))
    for strategy in STRATEGIES:
        cells = "".join(f"{scored(strategy, e):>14}" for e in EPSILONS)
        print(f"{strategy:15}{cells}", flush=True)
    print(f"{'without noise':15}" + f"{scored(None, 1.0):>14}" * len(EPSILONS))
    return 0


if __name__ == "__main__":
    Arguments(__doc__).parse_args()
    sys.exit(main())
