# SPDX-License-Identifier: Apache-2.0
"""Where the golden check reaches into the package: public names, each through one function.

A change that renames or moves what a function here asks for re-points that function, and nothing
else of the check.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

import lownoise as ln

CHARGES = ("mu", "rho", "epsilon", "delta")


@contextmanager
def simulated(seed):
    """Let whatever draws noise draw the words of `SimulationRandomness(seed)`, not the system's.

    The public verbs take no seed, so the system's generator is replaced where the package's door to
    it asks for words; other callers (names of temporary files) still get the system's bytes. These
    words have an order, so that one thread draws them.
    """
    bits, system = np.random.PCG64(seed), os.urandom

    def drawn(count):
        asking = sys._getframe(1)
        inside = str(asking.f_globals["__name__"]).startswith("lownoise.")
        if inside and asking.f_code.co_name in ("words", "fill"):
            return np.asarray(bits.random_raw(count // 8), dtype=np.uint64).tobytes()
        return system(count)

    in_order = patch("lownoise.noise.mechanism.orderless", return_value=False)
    with in_order, patch("os.urandom", drawn):
        yield


def planned(question, **asked):
    """Return the plan of a question."""
    return ln.plan(question, **asked)


def streamed(workload, seed, **asked):
    """Return a stream before its first round, with simulated noise."""
    with simulated(seed):
        return ln.stream(workload, **asked)


def charge(made):
    """Return what it reveals: a number a name, None where it has none."""
    return {name: getattr(made.cost, name) for name in CHARGES}


def event(made):
    """Return what an account records of it: the kind, and its numbers."""
    own = vars(made.cost.event)
    return type(made.cost.event).__name__, {name: float(own[name]) for name in sorted(own)}


def radius(terms):
    """Return the radius of all changes in the final noise: μ of Gaussian noise, ε of pure."""
    mechanism = terms.mechanism
    return mechanism.loss.mu if terms.gaussian else mechanism.loss.epsilon


def kind(made):
    """Return what a plan or a release was called before there was one class of each."""
    name, terms = type(made).__name__, made.terms
    if not terms.gaussian:
        return f"Pure{name}"
    question = terms.question
    if isinstance(question, ln.Marginals):
        return f"Table{name}"
    return f"Linear{name}" if isinstance(question, (ln.Queries, ln.Parity)) else name


def bounds(made):
    """Return error, both ends of the certificate, and the lower bound."""
    own = made.certificate
    return {
        "error": made.error,
        "lower": own.lower,
        "upper": own.upper,
        "lower_bound": made.lower_bound,
    }


def deviations(made):
    """Return the standard deviation of every answer, in a row."""
    if isinstance(made, ln.Stream):
        return np.asarray(made.standard_deviations(), dtype=np.float64).ravel()
    if isinstance(made.terms.question, ln.Marginals):
        names = marginals_of(made)
        own = [made.standard_deviation(*n, answers=bool(a)) for n in names for a in (0, 1)]
        return np.concatenate([np.atleast_1d(x).ravel() for x in own])
    return np.asarray(made.standard_deviation, dtype=np.float64)


def marginals_of(plan):
    """Return the names of each marginal that is asked for."""
    question = plan.terms.question
    return [question.names(chosen) for chosen in question.sets()]


def covariance(made):
    """Return the covariance of the answers, None where the plan has no matrix of it."""
    if isinstance(made, ln.Stream):
        return None
    if isinstance(made.terms.question, ln.Marginals):
        cells = [(n, [0] * len(n)) for n in marginals_of(made)]
        return np.array([[made.covariance(x, y) for y in cells] for x in cells])
    return np.asarray(made.covariance, dtype=np.float64)


def released(plan, table, seed):
    """Return the released integers, with simulated noise."""
    with simulated(seed):
        return [int(k) for k in plan.release(table).integers]


def verified(path):
    """Return whether a file, or a release's folder, verifies; and how many checks fail."""
    checks = ln.verify(path).checks
    return all(check.holds for check in checks), sum(not check.holds for check in checks)


def read_document(path):
    """Return the plan or the release in a file, whatever its kind."""
    from lownoise.planning import StreamPlan

    readers = (ln.Plan, StreamPlan) if path.name.endswith(".plan.json") else (ln.Release,)
    if path.is_dir():
        return ln.Release.load(path)
    text = path.read_text()
    for reader in readers:
        try:
            return reader.from_json(text)
        except ln.errors.FileError:
            continue
    raise AssertionError(f"{path} is read by no kind")


def opened(path, ledger=None):
    """Return the stream in a file."""
    return ln.Stream.open(path, ledger=ledger)


def planned_by(path):
    """Return the plan of a specification."""
    from lownoise.spec import read_spec

    return read_spec(path).plan()
