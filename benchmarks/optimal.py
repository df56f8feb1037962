# SPDX-License-Identifier: Apache-2.0
"""How far well-known mechanisms are from the best one, on small problems where that is known.

    python -m benchmarks.optimal
    python -m benchmarks.optimal times

Every mechanism is a table of probabilities on the same databases and answers, and its error is the
expected one on the worst database. Noise is added to the exact integers; a coordinate that falls
outside 0 … n is moved to its nearer end, and what is then no possible answer to the nearest one.
Each table is checked to be private before its error is printed.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
from scipy import optimize, sparse, stats

import lownoise as ln
from benchmarks.arguments import Arguments

EPSILONS = (0.25, 0.5, 1.0, 2.0)
WIDE = 300  # steps of noise that are looked at: what is beyond has a probability below 1e-30


def two_counts(n: int) -> ln.theory.FiniteProblem:
    """Two counts of the same people, each from 0 to n: one person moves both by up to 1."""
    grid = np.array(list(itertools.product(range(n + 1), repeat=2)), dtype=float)
    apart = grid[:, None] - grid
    distances, errors = np.abs(apart).max(axis=2), np.linalg.norm(apart, axis=2)
    return ln.theory.FiniteProblem(
        histograms=grid, answers=grid, distances=distances, errors=errors
    )


PROBLEMS = {  # what one person moves: one coordinate, or all of them
    "one count, n = 10": (ln.theory.finite_problem([[1.0]], size=10), "one"),
    "two counts, n = 5": (two_counts(5), "all"),
    "histogram of 3 kinds, n = 4": (ln.theory.finite_problem(np.eye(3), size=4), "one"),
}


def geometric(epsilon: float) -> np.ndarray:
    z = np.arange(-WIDE, WIDE + 1)
    p = np.exp(-epsilon * np.abs(z))
    return np.asarray(p / p.sum())


def laplace(epsilon: float) -> np.ndarray:
    z = np.arange(-WIDE, WIDE + 1)
    noise = stats.laplace(scale=1 / epsilon)
    p = np.where(z > 0, noise.sf(z - 0.5) - noise.sf(z + 0.5), 0.0)
    p = p + p[::-1]
    p[WIDE] = noise.cdf(0.5) - noise.cdf(-0.5)
    return np.asarray(p / p.sum())


def independent(problem: ln.theory.FiniteProblem, noise: np.ndarray) -> np.ndarray:
    """Every coordinate with noise of its own."""
    n, k = int(problem.histograms.max()), problem.histograms.shape[1]
    z = np.arange(-WIDE, WIDE + 1)
    one = np.stack([np.bincount(np.clip(i + z, 0, n), noise, n + 1) for i in range(n + 1)])
    grid = np.array(list(itertools.product(range(n + 1), repeat=k)))
    h = problem.histograms.astype(int)
    joint = np.prod([one[h[:, j, None], grid[:, j]] for j in range(k)], axis=0)
    return read(problem, joint, grid)


def k_norm(problem: ln.theory.FiniteProblem, epsilon: float) -> np.ndarray:
    """Noise z on the plane's integers with probability ∝ e^{−ε·‖z‖_∞}."""
    n = int(problem.histograms.max())
    wide = np.arange(-WIDE, WIDE + 1)
    far = np.maximum(np.abs(wide[:, None]), np.abs(wide))
    p = np.exp(-epsilon * far)
    p /= p.sum()
    law = []
    for i, j in problem.histograms.astype(int):
        at = np.clip(i + wide, 0, n)[:, None] * (n + 1) + np.clip(j + wide, 0, n)
        law.append(np.bincount(at.ravel(), p.ravel(), (n + 1) ** 2))
    return read(problem, np.array(law), np.array(list(itertools.product(range(n + 1), repeat=2))))


def read(problem: ln.theory.FiniteProblem, law: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Each answer of a grid replaced by the nearest possible one."""
    off = np.linalg.norm(grid[:, None] - problem.answers, axis=2)
    moved = np.zeros((len(grid), len(problem.answers)))
    moved[np.arange(len(grid)), np.argmin(off, axis=1)] = 1
    return law @ moved


def exponential(problem: ln.theory.FiniteProblem, epsilon: float) -> np.ndarray:
    """∝ e^{−ε·error/(2c)}, c what one person changes an error by at most."""
    e, near = problem.errors, problem.distances == 1
    c = max(np.max(np.abs(e[near[x]] - e[x])) for x in range(len(e)))
    p = np.exp(-epsilon * e / (2 * c))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def read_best(problem: ln.theory.FiniteProblem, law: np.ndarray) -> np.ndarray:
    """The table law·Q of the least worst error, Q any way to replace answers."""
    e, (D, S), R = problem.errors, law.shape, problem.errors.shape[1]
    own = np.einsum("xs,xr->xsr", law, e).reshape(D, S * R)
    found = optimize.linprog(
        np.append(np.zeros(S * R), 1.0),
        A_ub=np.hstack([own, -np.ones((D, 1))]),
        b_ub=np.zeros(D),
        A_eq=sparse.hstack([sparse.kron(sparse.eye(S), np.ones((1, R))), np.zeros((S, 1))]),
        b_eq=np.ones(S),
        method="highs",
    )
    return np.asarray(law @ found.x[:-1].reshape(S, R))


def worst(problem: ln.theory.FiniteProblem, law: np.ndarray, epsilon: float) -> float:
    assert np.allclose(law.sum(axis=1), 1, atol=1e-9)
    for x, row in enumerate(law):
        assert np.all(row <= np.exp(epsilon * problem.distances[x])[:, None] * law + 1e-9)
    return float((law * problem.errors).sum(axis=1).max())


def by_hand(problem: ln.theory.FiniteProblem, moves: str, epsilon: float) -> dict[str, np.ndarray]:
    """Tables by name; where one person moves all coordinates, each gets its share of epsilon."""
    share = epsilon / problem.histograms.shape[1] if moves == "all" else epsilon
    shaped = independent(problem, geometric(epsilon))
    if moves == "all":
        shaped = k_norm(problem, epsilon)
    return {
        "K-norm, answers replaced at best": read_best(problem, shaped),
        "K-norm": shaped,
        "geometric": independent(problem, geometric(share)),
        "Laplace, rounded": independent(problem, laplace(share)),
        "exponential": exponential(problem, epsilon),
    }


def compare() -> None:
    for name, (problem, moves) in PROBLEMS.items():
        print(f"\n| {name} | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |")
        print("|---|" + "---|" * len(EPSILONS))
        columns = []
        for epsilon in EPSILONS:
            best = ln.theory.optimal_mechanism(problem.distances, problem.errors, epsilon=epsilon)
            assert best.certificate.gap < 1e-7
            hands = by_hand(problem, moves, epsilon)
            columns.append((best.error, {k: worst(problem, v, epsilon) for k, v in hands.items()}))
        print("| least error | " + " | ".join(f"{least:.4f}" for least, _ in columns) + " |")
        for kind in columns[0][1]:
            cells = " | ".join(f"× {own[kind] / least:.3f}" for least, own in columns)
            print(f"| {kind} | {cells} |", flush=True)


def times() -> None:
    print("| problem | databases × answers | seconds | gap |\n|---|---|---|---|")
    for name, kinds, size in (
        ("one count, n = 30", 1, 30),
        ("one count, n = 60", 1, 60),
        ("histogram of 3 kinds, n = 5", 3, 5),
    ):
        problem = ln.theory.finite_problem(np.eye(kinds), size=size)
        start = time.perf_counter()
        best = ln.theory.optimal_mechanism(problem.distances, problem.errors, epsilon=1.0)
        took = time.perf_counter() - start
        cells = f"{problem.errors.size:,}"
        print(f"| {name} | {cells} | {took:.1f} | {best.certificate.gap:.0e} |", flush=True)


if __name__ == "__main__":
    times() if Arguments(__doc__).words("times") else compare()
