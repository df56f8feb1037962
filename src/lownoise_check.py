# SPDX-License-Identifier: Apache-2.0
"""Decide from the file of a plan or a release alone whether its noise and its bounds are true.
It needs this one file and Python's own library, and shares no line with what wrote the file. What counts is decided
in fractions and whole numbers; floats only find where to look. Noise L·ξ hides a change s as well as two normal laws
that are μ = |L⁻¹s| apart. Decided is that no change that one neighbour makes has more than the stated μ, and this no
more than the budget; that `upper` is at least what the noise's deviations amount to; and that `lower` is proved: with
G = Lᵀdiag(ω²c)L of query weights c, C the second moment of weights on changes, q = p/(p − 2), and X that is made here,
    [[G, X], [Xᵀ, C]] ⪰ 0  proves  √tr_{p/2}(ωLMLᵀω) ≥ tr X/√(‖c‖_q·mass)  if M's ellipsoid holds all changes.
`python lownoise_check.py FILE` exits with 0 holds, 1 false or without proof, 2 cannot be decided here, 3 no such file;
of a folder it decides the release, or all that share a budget.
"""

# fmt: off
import base64
import decimal
import json
import math
import re
import sys
import zlib
from collections import Counter
from fractions import Fraction as F
from functools import lru_cache, partial
from itertools import accumulate, combinations, combinations_with_replacement, product, repeat
from operator import mul
from pathlib import Path
from typing import Any, NoReturn

Rows = list[list[int]]
Orbit = tuple[int, ...]  # the types of a set's attributes, rising
Dyadic = tuple[Rows, int]  # whole numbers, and the power of two that they are over
ZERO, each = F(0), partial(zip, strict=True)
HOLDS, FALSE, OPEN, UNREAD = 0, 1, 2, 3
RELEASE, TOGETHER = "release.json", "together.json"  # within folders
BITS, ONE = 256, 1 << 400  # after the point, where numbers, and the normal law, are rounded: what is proved is exact
PI = F("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679")
EULER = F("0.5772156649015328606065120900824024310421593359399235988057672348848677267776646709369470632917467495")
FINE = 1 << BITS
LONGEST, WIDEST, WORK, MANY = 1 << 26, 130, 1 << 28, 1 << 22  # characters, coordinates, products, marginals or patterns
WHOLE = "discrete_k_norm"  # of which tables are decided
SHAPED = ("k_norm", "ellipsoid", "recursive", "radial")  # noise of a norm
PURE = ("laplace", "laplace_histogram", "geometric", "geometric_histogram", "staircase", WHOLE, *SHAPED)
PARTS = {"gaussian": "kind scale factor reach", WHOLE: "scale", "block": "kind scale factor places", "k_norm": "scale kept reach", "staircase": "scale epsilon first factor",
         "ellipsoid": "scale factor kept reach", "recursive": "rows levels kept reach",
         "radial": "epsilon scale factor radii weights kept reach"}  # else scales
BUDGETS = {"zcdp": "kind rho", "gaussian_dp": "kind mu", "approx_dp": "kind epsilon delta"}
EPSILONS = {"pure_dp": "kind epsilon", "approx_dp": "kind epsilon delta"}  # of pure noise, which has no δ
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError, zlib.error)

# -- reading: what lacks a name, or is of another type or length than ours, ends in DAMAGE
class StopError(Exception):
    """Why nothing more is decided: a status and a reason."""
def false(reason: str) -> NoReturn:  # stop at what is wrong
    raise StopError(FALSE, reason)
def undecided(reason: str) -> NoReturn:  # stop at what is not decided here
    raise StopError(OPEN, reason)
def once(pairs: list[tuple[str, Any]]) -> Any:  # an object that has each name once
    return dict(pairs) if len(dict(pairs)) == len(pairs) else false("a name stands twice in one object")
def fields(given: Any, where: str, known: str) -> Any:  # an object that has no names but these
    beyond = [name for name in given if name not in known.split()]
    name = "".join(x if x.isprintable() else "?" for x in (beyond or [""])[0][:60])
    return undecided(f"{where}.{name} is not known here") if beyond else given
def of_kind(given: Any, where: str, kind: str, known: str) -> Any:  # an object of this kind, with no names but these
    one_of(given["kind"], f"{where}.kind", kind)
    return fields(given, where, f"kind {known}")
def numbers(given: Any, where: str, n: int = -1, least: Any = -1e308, kind: Any = float, below: Any = 1e308) -> Any:
    fits = type(given) is list and n in (-1, len(given)) and all(type(x) is kind and least <= x < below for x in given)
    return given if fits else false(f"{where} is not {'some' if n < 0 else n} numbers in range")  # in one list
wholes = partial(numbers, least=0, kind=int)
def single(given: Any, where: str, least: float = 0.0) -> F:  # one number, exactly
    return F(numbers([given], where, 1, least)[0])
def table(given: Any, where: str, rows: int, columns: int) -> Any:  # rows of as many floats each; -1: of any length
    return [numbers(row, where, columns) for row in given] if rows in (-1, len(given)) else false(f"{where} has rows")
def one_of(given: Any, where: str, known: str) -> str:  # a word that is known here
    fits = type(given) is str and given in known.split()
    return str(given) if fits else undecided(f"{where}={str(given)[:60]!r} is not decided here, only {known}")
def unpacked(given: Any, where: str, shape: list[int]) -> list[list[float]]:  # a packed array of finite floats
    n = math.prod(shape) if given["shape"] == shape else false(f"{where} has not the shape {shape}")
    content = zlib.decompressobj().decompress(base64.b64decode(given["float64"], validate=True), 8 * n + 1)
    flat = numbers(memoryview(content).cast("d").tolist(), where, n)  # of this machine's byte order
    return [flat[i : i + shape[-1]] for i in range(0, n, shape[-1])]

# -- matrices of whole numbers over a power of two
def dyadic(rows: Any) -> Dyadic:  # of floats or fractions
    ratios = [[x.as_integer_ratio() for x in row] for row in rows]
    places = max((q.bit_length() - 1 for row in ratios for _, q in row), default=0)
    if sum(map(len, ratios)) * places > 16 * WORK:
        undecided("numbers of sizes too unlike")
    return [[p << (places - q.bit_length() + 1) for p, q in row] for row in ratios], places
def shifted(x: int, places: int) -> int:  # x·2^places, rounded down
    return x << places if places >= 0 else x >> -places
def turned(a: Any) -> Any:  # the transpose
    return [list(column) for column in each(*a)]
def dot(a: Any, b: Any) -> Any:  # Σ a·b, of as many as the shorter has
    return sum(map(mul, a, b))
def times(a: Rows, b: Rows, places: int = 0) -> Rows:  # a·b/2^places, rounded down
    columns = turned(b) if len(a) * len(b) * len(b[0]) <= WORK else undecided("too many numbers")
    return [[dot(row, column) >> places for column in columns] for row in a]
def unit(n: int, one: int = 1) -> Rows:  # the identity, times a number
    return [[one * (i == j) for j in range(n)] for i in range(n)]
def gram(rows: Rows, weights: list[int]) -> Rows:  # Σ w·row·rowᵀ
    return times(turned(rows), [[w * x for x in row] for row, w in each(rows, weights)])
def less(a: Any, b: Any) -> Any:  # a − b
    return [[x - y for x, y in each(*rows)] for rows in each(a, b)]
def largest(a: Any) -> Any:  # the greatest size of an entry
    return max(abs(x) for row in a for x in row)
def shown(a: Rows) -> tuple[list[int], Rows]:  # powers of two that make D, and R over 2^BITS, D·a·D ⪰ R·Rᵀ; or stop
    powers, found = [(row[i].bit_length() + 1) // 2 for i, row in enumerate(a)], list[list[int]]()
    near = [[shifted(x, BITS - p - q) for x, q in each(row, powers)] for row, p in each(a, powers)]  # but for a unit
    for i, given in enumerate(near):
        row: list[int] = []
        for j, other in enumerate(found):
            row.append(((given[j] << BITS) - dot(row, other)) // other[j])
        left = ((given[i] - (1 << (BITS // 4))) << BITS) - dot(row, row)
        found.append([*row, math.isqrt(left) if left > 0 else false("noise, or evidence, is short in some direction")])
    off = [(2 * len(a)) << BITS for _ in a]  # what is left has a dominating diagonal
    for i, row in enumerate(found):
        for j in range(i):
            size = abs((near[i][j] << BITS) - dot(found[j], row))
            off[i], off[j] = off[i] + size, off[j] + size
    if any((near[i][i] << BITS) - dot(row, row) < off[i] for i, row in enumerate(found)):
        false("a matrix is too near the rim")
    return powers, [row + [0] * (len(a) - len(row)) for row in found]
def semidefinite(a: Rows) -> bool:  # whether that is shown, beside rows of zeros
    return bool(shown([[x for x, own in each(row, a) if any(own)] for row in a if any(row)]))
def inverse(a: list[list[float]]) -> list[list[float]]:  # about the inverse, in floats (Gauss and Jordan)
    rows = [[*row, *map(float, own)] for row, own in each(a, unit(len(a)))]
    for k in range(len(a)):
        at = max(range(k, len(a)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[at] = rows[at], rows[k]
        pivot = rows[k] = [x / rows[k][k] for x in rows[k]]
        rows = [row if i == k else [x - row[k] * y for x, y in each(row, pivot)] for i, row in enumerate(rows)]
    return [row[len(a):] for row in rows]
def polar(a: Rows) -> Rows:  # about the orthogonal factor over 2^BITS: Newton's iteration in floats, then exactly
    top, moved, rounds = 1 << largest(a).bit_length(), 1.0, 0
    found = [[x / top for x in row] for row in a]
    while moved > 1e-9 and (rounds := rounds + 1) < 30:
        last, other = found, turned(inverse(found))
        s = math.sqrt(largest(other) / largest(found))
        found = [[(x * s + y / s) / 2 for x, y in each(*rows)] for rows in each(found, other)]
        moved = largest(less(found, last))
    near = [[int(x * 2.0**BITS) for x in row] for row in found]  # and K·(3 − KᵀK)/2
    return times(near, less(unit(len(a), 3 << BITS), times(turned(near), near, BITS)), BITS + 1)

# -- roots, exp and the normal law, rounded down, or up
def cut(x: F, places: int, up: int) -> F:  # x over 2^places
    return F((1 - 2 * up) * ((1 - 2 * up) * (x.numerator << places) // x.denominator), 1 << places)
def root(x: F, up: int, places: int = 200) -> F:  # √x, within a part 2^(1 - places) of it
    places += max(x.denominator.bit_length() - x.numerator.bit_length(), 0)
    return F(math.isqrt((x.numerator << (2 * places)) // x.denominator) + up, 1 << places)
def exp(x: F, up: int) -> F:  # e^x, |x| ≤ 2^12, to 10^-110 of it: Python's decimals round e^x to nearest
    law = decimal.Context(prec=120)
    y = law.divide(*map(decimal.Decimal, x.as_integer_ratio())) if abs(x) <= 1 << 12 else undecided(f"e^{float(x)}")
    return F(law.exp(y)) * (1 + F(2 * up - 1, 10**110))
def log(x: F) -> F:  # at least ln x, to 10^-110
    law = decimal.Context(prec=120)
    return F(law.ln(law.divide(*map(decimal.Decimal, x.as_integer_ratio())))) + F(1, 10**110)
def normal(x: F, up: int) -> F:  # Φ(x) = ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + …), of terms above 0 where x is
    if x < 0:
        return 1 - normal(-x, 1 - up)
    term = total = a = math.floor(x * ONE) + up if x <= 60 else undecided(f"the normal law at {float(x)}")
    k, square, far = 1, (a * a >> 400) + up, 2 * int(x * x) + 4
    while k < far or term > 2:  # from here on terms fall by half or more
        k += 2
        term = (term * square // k >> 400) + up
        total += term
    return F(1, 2) + F(total + 2 * up, ONE) * exp(-x * x / 2, up) / root(2 * (PI + F(1 - up, 10**100)), 1 - up, 400)
def quantile(chance: F, top: F = F(12)) -> F:  # at least z with Φ(z) = chance, from −12 to top
    low, high = -F(12) if chance < F(1, 2) else ZERO, top
    for _ in range(80):
        middle = cut((low + high) / 2, 160, 0)
        low, high = (middle, high) if normal(middle, 0) < chance else (low, middle)
    return high if normal(high, 0) >= chance else undecided(f"the normal law at {float(top)}")
def delta(mu: F, epsilon: F, up: int) -> F:  # a Gaussian's δ = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)
    return normal(mu / 2 - epsilon / mu, up) - exp(epsilon, 1 - up) * normal(-mu / 2 - epsilon / mu, 1 - up)

# -- what every file says: its budget, its cost, its bounds
def allowed(budget: Any) -> tuple[F, F]:  # below and above the greatest μ² of one Gaussian release within a budget
    known = BUDGETS[one_of(budget["kind"], "budget.kind", " ".join(BUDGETS))]
    first, *more = (single(fields(budget, "budget", known)[k], "budget", 2.0**-1000) for k in known.split()[1:])
    if not more:
        return (2 * first, 2 * first) if known == "kind rho" else (first**2, first**2)
    low, high = first / 50, first + 20
    for _ in range(90):
        middle = cut((low + high) / 2, 160 - math.frexp(float(high))[1], 0)
        low, high = (middle, high) if delta(middle, first, 1) <= more[0] else (low, middle)
    fits = delta(low, first, 1) <= more[0] <= delta(high, first, 0)
    return (low**2, high**2) if fits else undecided("a budget of so great a δ, or so small a one")
def granted(budget: Any) -> list[F]:  # the ε of a budget for pure noise, and its δ, which such noise leaves alone
    known = EPSILONS[one_of(budget["kind"], "budget.kind", " ".join(EPSILONS))]
    found = [single(fields(budget, "budget", known)[k], "budget") for k in known.split()[1:]]
    return found if found[-1] < 1 or len(found) < 2 else false("budget.delta is not below 1")
def strays(epsilon: F) -> F:  # at most √(2q)/(1 − q), q = e^−ε, the deviation of two-sided geometric noise
    return root(2 * (q := exp(-epsilon, 0)), 0) / (1 - q)
def endless(epsilon: F, delta: F) -> F:  # at most κ² of (ε, δ), where records have no end, by as many proofs (`docs/theory.md`)
    q, best = cut(exp(-epsilon, 0), 300, 0), ZERO
    for i in range(200):
        last = math.floor(60 / epsilon * F(2.0 ** (-i / 4))) if i else 0
        end = F(power(math.floor(q * FINE), last + 1), FINE)
        ones = (1 - end) / (1 - q)
        steps = (ones - 1 - last * end) / (1 - q)
        late = (last + 1) * end / ((1 + q) * ones)
        kept = 2 * q * (1 - delta) / (1 + q) * (ones + 2 * steps) - (1 - q + 2 * q * delta) * ones * late**2
        kept -= 2 * delta * q / (1 - q) * ((last + 1) ** 2 - ones - 2 * steps) + F((last + 2) ** 2, 10**40) / (1 - q) ** 3
        best = max(best, kept) if late <= F(1, 2) else best
    return best
def among(epsilon: F, size: int, gamma: F, many: int, extent: F, length: F, delta: F = ZERO) -> F:
    # at most the error of every mechanism of ε on some table of so many records, by three proofs of `docs/theory.md`:
    # so many changes of one record, none longer than ‖s‖_p and ‖s‖₂, prove gamma; each has m records of its own
    if not (m := size // many) or not epsilon:
        return ZERO
    kappa, own, cost = ZERO, float(epsilon), min(many * extent, root(F(many), 1) * length)
    for best, steps in ((0.5, True), (2.4, False)):
        top = min(max(int(best / own), 1), m)
        for g in {1, min(top + 1, m), *(max(int(top * 2.0 ** (-i / 4)), 1) for i in range(20))}:
            up, down, k = exp(g * epsilon / 2, 1), exp(-g * epsilon / 2, 0), m // g
            lost = delta * (up * up - 1) / (exp(epsilon, 0) - 1)  # what g steps of δ may come to
            if lost >= 1:
                continue
            square, off = (up - down) ** 2 + lost, root(lost, 1)
            kappa = max(kappa, g * k * (1 - lost) / ((k - 1) * (root(square, 1) + off) + 1 + root(1 + square, 1)) if steps else
                        g * root(1 - lost, 0) / (up + 1 / up))
    found = gamma * kappa
    if delta:
        return found
    for rate in (F(own * 2.0 ** (8 - i / 3)) for i in range(60)):  # of how the records of each are given to its ends
        if rate < 700 and (gap := 1 - exp(-rate, 1)) > 0:
            lost = root(F(2), 1) * exp(-min(rate * (m // 2 + 1) / 2, F(700)), 1) / gap
            found = max(found, gamma * strays(epsilon + rate) - cost * lost)
    return found
def powers(epsilon: F, most: int, up: int) -> list[int]:  # Σ q^k·k^j, j = 0, …, most, over ONE, rounded down, or up
    q, part, k, sums = math.floor(exp(-epsilon, up) * ONE) + up, ONE, 0, [ONE] + [0] * most
    while k * epsilon < 2 * most or part * k**most >= 1 << 300:  # then terms fall as e^(−ε/2) at least
        k, part = k + 1, (part * q >> 400) + up
        sums = [x + y for x, y in each(sums, accumulate(repeat(k, most), mul, initial=part))]
    return [x + up * (int(2 / epsilon) + 1 << 300) for x in sums]
def shells(x: F, n: int, epsilon: F, up: int) -> F:  # Σ q^k·max(x + k, 0)^n, rounded down, or up; x > −1, n > 0
    if x < 0:
        return exp(-epsilon, up) * shells(x + 1, n, epsilon, up)
    return sum((math.comb(n, j) * x ** (n - j) * s for j, s in enumerate(powers(epsilon, n, up))), ZERO) / ONE
def staircase(epsilon: F, d: int, level: F) -> bool:  # whether Σ q^k·((γ + k)^(d + 2) − level·(γ + k)^d) ≥ 0, 0 ≤ γ ≤ 1
    if d > 16 or not d / 1000 < epsilon <= 20:  # beyond, so many powers of numbers so large
        return False
    n, low, high = d + 2, powers(epsilon, d + 2, 0), powers(epsilon, d, 1)
    terms = [(math.comb(n, j) * low[n - j] - level * math.comb(d, j) * high[d - j]) / math.comb(n, j) for j in range(n + 1)]
    parts = [[math.floor(sum((math.comb(i, j) * terms[j] for j in range(i + 1)), ZERO)) for i in range(n + 1)]]
    for _ in range(1000):  # Bernstein's coefficients, which no value is below, on halves of halves
        if parts and min(parts[-1]) >= 0:
            parts.pop()
        elif not parts or min(parts[-1][0], parts[-1][-1]) < 0:
            return not parts
        else:
            rows = [parts.pop()]
            while len(rows[-1]) > 1:
                rows.append([(x + y) >> 1 for x, y in zip(rows[-1], rows[-1][1:], strict=False)])
            parts += [[row[0] for row in rows], [row[-1] for row in reversed(rows)]]
    return False
def on_line(epsilon: F, delta: F, proof: Any) -> F:  # at most E Z² of noise on one number that covers changes by 1 (`docs/theory.md`)
    end, level, low, high = (single(proof[k], f"evidence.additive.{k}") for k in ("end", "level", "below", "above"))
    if not (1 < end < 1 << 12 and level < end**2 and 0 < low < high < 1):
        return ZERO
    q, steps, off = cut(exp(-epsilon, 1), 300, 1), math.floor(end), F(1, 10**40) * end**4
    most, meet, pieces = (end**2 - level) * q / (1 - q), end - steps, []
    for n in (steps, steps - 1):  # V is two parabolas
        falls = [F(power(math.floor(q * FINE), j), FINE) for j in range(n + 1)]
        pieces.append((sum((f * (j * j - level) for j, f in enumerate(falls)), ZERO) + falls[n] * most,
                       sum((2 * j * f for j, f in enumerate(falls)), ZERO), sum(falls, ZERO)))
    def value(z: F) -> F:
        a, b, c = pieces[z > meet]
        return a + z * (b + z * c)
    def integral(start: F, stop: F) -> F:
        middle = min(max(meet, start), stop)
        return sum((z * (a + z * (b / 2 + z * c / 3)) * sign for (a, b, c), ends in each(pieces, ((middle, start), (stop, middle)))
                    for z, sign in each(ends, (1, -1))), ZERO)
    beyond = integral(high, F(1))
    if value(low) > -off or value(high) < off or beyond < off or integral(ZERO, low) + value(low) * (high - low) + q * beyond < off:
        return ZERO
    return level - 2 * (most + abs(value(ZERO) * value(F(1))) / beyond + off) * delta
def orthogonal(d: int) -> int:  # rows of a matrix of signs with d orthogonal columns: products of Sylvester's and Paley's
    primes = [q for q in range(3, 2 * WIDEST) if all(q % k for k in range(2, q))]
    found = {1, 2, *(q + 1 if q % 4 == 3 else 2 * q + 2 for q in primes)}
    for _ in range(3):
        found |= {x * y for x in found for y in found if x * y < 4 * WIDEST}
    return min(x for x in found if x >= d)
def apart(rho: F) -> F:  # at least ∫(P⁺ − P⁻)²/Q of three neighbours' laws, by two proofs of `docs/theory.md`
    more = {k: exp(k * rho, 1) - 1 for k in (2, 6, 12, 20)}  # at least e^{kρ} − 1
    far, part = 2 * more[2] + 2 - 2 * exp(-rho, 0), math.sqrt(rho)
    j, w = F(max(6.0, 1.5 * math.sqrt(3.0) / part - 4)), 2 * rho * F(max(0.0, 1 - 2 * part))
    scale = (j + 1) / (6 + w * (j + 1))  # all j ≥ 6 and w ≥ 0 prove a bound
    three, b = min(more[6], (root(F(3), 1) - 1) / 4 * more[12], more[20] / 10), 1 + w / 4 - 1 / (4 * scale)
    r = scale * w * w / 2 + (1 - scale * w) * 2 * (exp(j * rho, 1) - 1) / j + three / (2 * scale) + w * more[2]
    return far if rho > F(1, 2) else min(far, 2 * r / (b + root(b * b + 3 * r / (2 * scale) / more[2], 0)))
class File:  # the terms of a file, what is derived from them, and what was found to hold or not
    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.spent: F | None = None  # μ² or ε, of which several add up
        self.near, self.delta, self.first = 36, ZERO, False
        self.apart = F(1)  # at most the total variation between two laws of staircase noise, told apart by a change
    def say(self, what: str, holds: bool) -> None:  # note that something is so, or is not
        self.found.append((HOLDS if holds else FALSE, what))
    def read(self, terms: Any, derived: Any) -> None:  # what all kinds have; check the stated μ, and what it costs
        self.terms, self.derived, order = terms, derived, 2.0 if "pair" in terms else terms["order"]
        self.infinite = order == "inf" or (order != 2.0 and undecided(f"order={str(order)[:20]}, only 2.0 and inf are"))
        self.counted = one_of(terms["relation"], "relation", "substitute add_remove") == "add_remove"
        self.pure = one_of(terms["mechanism"], "mechanism", " ".join(PURE)) if "mechanism" in terms else ""
        epsilon, most = (single(derived["cost"][k], f"cost.{k}") for k in ("epsilon", "delta"))
        self.law = "geometric" if self.pure == WHOLE else self.pure.split("_hist")[0] or "gaussian"
        if self.pure:
            own, *more = granted(terms["budget"])
            self.limit = self.spent = epsilon
            self.epsilon = min(own, epsilon) if more else own  # whose lower bound is stated
            _ = "unit" in terms and undecided("units under a pure budget")
            self.delta, room = most, more[0] if more and self.law == "radial" else ZERO
            self.say(f"ε = {float(epsilon):.12g}" + f", δ = {float(most):.12g}" * (most > 0) + " is within the budget",
                     epsilon <= own and most <= room)
            return
        rho, mu = (single(derived["cost"][k], f"cost.{k}") for k in ("rho", "mu"))
        unit = fields(terms.get("unit", {"rows": 1}), "unit", "column rows order_by null")  # m rows, m times as far
        self.rows = F(wholes([unit["rows"]], "unit.rows", 1, least=1)[0]) ** 2 if self.counted else F("unit" not in terms)
        mu = mu if mu > 2.0**-1000 else ZERO  # as is written of what no neighbour changes
        self.spent = mu**2
        self.limit = mu**2 / (self.rows or undecided("units that take other values"))
        low, self.allowed = allowed(terms["budget"])
        self.say(f"μ = {float(mu):.12g} is within the budget" + f", of {unit['rows']} rows" * ("unit" in terms), mu**2 <= low)
        holds = mu**2 <= 2 * rho and (not mu or delta(mu, epsilon, 1) <= most)
        self.say("the stated ρ, ε and δ are at least what μ costs", holds)
    def spread(self, scale: F) -> F:  # at most the variance of a number of this scale, of Laplace's law or a whole one
        return 2 * scale**2 if self.law != "geometric" else 2 * (q := exp(-1 / scale, 1)) / (1 - q) ** 2
    def reveals(self, changes: list[Counter[F]]) -> None:  # by how many scales each change moves how many numbers
        total = [sum((x * n for x, n in change.items()), ZERO) for change in changes]
        self.hides(max(total, default=ZERO) <= self.limit)
        each_one = {x: (self.divergence(x), self.shift(x)) for change in changes for x in change if x}
        sums = [[sum((each_one[x][k] * n for x, n in change.items() if x), ZERO) for change in changes] for k in (0, 1)]
        self.charged(*(max(own, default=ZERO) for own in sums))
    def hides(self, holds: bool) -> None:  # note whether the stated ε does
        self.say("no change by one neighbour reveals more than ε" + " and δ" * (self.law == "radial"), holds)
    def charged(self, rho: F, square: F) -> None:  # at least the ρ and μ² of the noise
        if self.first and "cost_of_noise" not in self.derived:
            return  # files of version 1 state none
        stated = [single(self.derived["cost_of_noise"][k], f"cost_of_noise.{k}") for k in ("rho", "mu")]
        self.say("the stated ρ and μ are at least what the noise costs", rho <= stated[0] and square <= stated[1] ** 2)
    def revealed(self, d: int, x: F) -> tuple[F, F]:  # the same of noise of a norm, that of d numbers where it is Euclidean
        rho, square = self.divergence(x), self.shift(x)
        if d < 2 or not x:
            return rho, square
        own, apart = of_ball(d, x)
        return min(own, rho), min((2 * quantile((1 + apart) / 2)) ** 2, square)
    def divergence(self, x: F) -> F:  # at least the ρ of one number that moves by so many of its scales
        pure = x * (1 - 2 / (exp(x, 1) + 1))
        if self.law in ("staircase", "radial"):  # ln M(α) ≤ ρα(α − 1), M of two laws by their corners; D_α grows with α
            (h, low), order, most = self.corners(x), 1.0, ZERO
            while order * most < x and most < pure:
                last, order = F(order), order * (1 + 2.0**-9)
                far = F(order) - 1
                most = max(most, log(1 - h - low + h * exp(x * far, 1) + low * exp(-x * far, 1)) / far / last)
            return min(most, pure)
        return x + exp(-x, 1) - 1 if self.law != "geometric" else pure
    def corners(self, x: F) -> tuple[F, F]:  # (l, 1 − h) and (1 − h, l) of what tells two laws apart, of a total variation
        h = min(self.apart / (1 - exp(-x, 1)), 1 / (1 + exp(-x, 0)))
        return h, h * exp(-x, 0)
    def shift(self, x: F) -> F:  # at least its μ²: Φ(μ/2) ≥ 1 − e^(−x/2)/2, and of randomised response 1/(1 + e^−x)
        if self.law in ("staircase", "radial"):
            h, low = self.corners(x)
            return (quantile(h) + quantile(1 - low)) ** 2
        return (2 * quantile(1 - exp(-x / 2, 0) / 2 if self.law != "geometric" else 1 / (1 + exp(-x, 0)), (x + 1) / 2)) ** 2
    def told(self, stated: Any, squares: list[F], square: F) -> None:  # what readers are told, by squares
        own = each([*stated, self.derived["error" if "pair" in self.terms else "objective"]], [*squares, square])
        near = all(abs(single(s, "derived") ** 2 - x) * 2**self.near <= x for s, x in own)
        near = near and single(self.derived["error"], "error") ** 2 * (1 + F(1, 1 << self.near)) >= square
        self.say("standard deviations and what sums them up are so to " + {36: "ten", 27: "eight", 20: "six"}.get(self.near, "three") + " digits, the error no less", near)
    def bounds(self, square: F, proved: F, plain: F, *ways: Any) -> None:
        # by squares: of deviations, and what is proved at μ = 1; of pure noise whom more proofs are of, and these
        if self.pure:
            bound, epsilon = single(self.derived["lower_bound"], "lower_bound"), self.epsilon
            odds, which = exp(epsilon, 1), " and no δ" * (self.terms["budget"]["kind"] == "approx_dp")
            if self.law == "radial":  # of the budget's ε and δ
                which, proofs = " and δ", [*ways, ("mechanism", lambda x: self.counted and x * x <= plain * endless(*granted(self.terms["budget"])))]
            else:
                unending = self.counted and "pair" not in self.terms  # records, and so changes, come as often as one likes
                proofs = [*ways, (  # on some table: h²·2q/(1 − q)² in every direction, q = e^−ε; of an unbiased one on any, by two laws, or three
                "mechanism", lambda x: not x or (unending and x <= root(plain, 0) * strays(epsilon))), (
                    "unbiased mechanism", lambda x: plain >= (
                        x * (odds - 1)) ** 2 * max(exp(-epsilon, 1), (not self.counted) * 2 / (exp(epsilon, 0) + 2)))]
            whom = next((name for name, holds in proofs if holds(bound)), "")
            self.found.append((HOLDS if whom else OPEN, f"lower_bound follows for every {whom or 'mechanism'} of this ε{which}"))
            return
        proved, plain = proved * self.rows, plain * self.rows
        lower, upper = (single(self.derived["certificate"][k], f"certificate.{k}") for k in ("lower", "upper"))
        self.say(f"upper = {float(upper):.12g} is at least what the deviations amount to", upper**2 >= square >= 0)
        self.say(f"lower = {float(lower):.12g} is proved", lower**2 * self.allowed <= proved and lower <= upper)
        bound, mu = single(self.derived["lower_bound"], "lower_bound") ** 2, self.allowed
        holds = bound * (exp(mu, 1) - 1 if self.counted else apart(mu / 2)) <= plain
        self.found.append((HOLDS if holds else OPEN, "lower_bound follows for unbiased mechanisms, as is known here"))

# -- noise L·ξ on whole numbers, and what a Gaussian of any shape is bound by
class Noise:  # L, by its exact entries over a power of two
    def __init__(self, noise: Any, r: int) -> None:
        self.diagonal = one_of(noise["kind"], "noise.kind", "diagonal dense") == "diagonal"
        scale = numbers(noise["scale"], "noise.scale", r, 0.0) if self.diagonal else []
        rows = [[x * (i == j) for j in range(r)] for i, x in enumerate(scale)]
        self.factor, self.over = dyadic(rows or table(noise["factor"], "noise.factor", r, r))
    def turn(self) -> Rows:  # T about L⁻¹ where |L⁻¹s|² ≤ (1 + 2^-60)·|T·s|² for every s: as (TL)ᵀTL·(1 + 2^-60) ⪰ I
        n, one = len(self.factor), self.over + BITS
        near = inverse([[x / (1 << self.over) for x in row] for row in self.factor])
        found = [[int(x * 2.0**BITS) for x in row] for row in near]
        for _ in range(3):  # T·(2 − L·T)
            found = times(found, less(unit(n, 2 << one), times(self.factor, found)), one)
        form = less(gram(times(found, self.factor), [(1 << 60) + 1] * n), unit(n, 1 << (2 * one + 60)))
        return found if semidefinite(form) else false("noise has nearly no width in some direction")
    def variances(self, answers: Dyadic, steps: list[float]) -> list[F]:  # of rows of answers to L·ξ in these steps
        (scale,), places = dyadic([steps])
        rows = times([list(map(mul, row, scale)) for row in answers[0]], self.factor)
        return [F(dot(row, row), 1 << (2 * (answers[1] + places + self.over))) for row in rows]
def farthest(points: Rows) -> Any:  # the greatest squared distance; floats only find between which points
    own = less(points, [points[0]] * len(points))
    top = 1 << largest(own).bit_length()
    near = [[x / top for x in point] for point in own]
    tops = [max(map(math.dist, repeat(point), near)) for point in near]
    least = max(tops) * (1 - 1e-9)
    ends = [i for i, x in enumerate(tops) if x >= least]
    return max(sum((a - b) ** 2 for a, b in each(own[i], own[j])) for i in ends for j in ends
               if j == i or math.dist(near[i], near[j]) >= least)
def below(form: Rows, most: int, hint: Any) -> bool:  # whether Σ form·σσᵀ ≤ most for all signs σ
    given = hint or [1.0] * len(form)
    sums, k = [row for row in given if type(row) is list], len(form)
    tops = numbers(given[:len(given) - len(sums)], "noise.reach", k, 2.0**-900)
    if k > (13 if hint else 21):  # at most Σ t − Σ λ, where diag(t) − Σ λvvᵀ − form ⪰ 0: of odd many signs ⟨v, σ⟩² ≥ 1
        weights = numbers([row[0] for row in sums], "noise.reach", -1, 0.0)
        share = most / max(sum(map(F, tops)) - sum(map(F, weights)), F(1, 1 << 1000))
        room = [[math.floor(F(y) * share) * (i == j) for j in range(k)] for i, y in enumerate(tops)]
        for weight, (_, *signs) in each(weights, sums):
            places = [abs(x) - 1 for x in wholes(signs, "noise.reach", least=-k, below=k + 1)]
            heavy = math.ceil(F(weight) * share)
            if 0 in signs or not len(signs) % 2 or len(signs) > k:
                false("noise.reach has a sum that is not of odd many signs")
            for (i, x), (j, y) in product(each(places, signs), repeat=2):
                room[i][j] -= heavy if x * y > 0 else -heavy
        return semidefinite(less(room, form))
    x, pull = [1] * k, [sum(row) for row in form]
    value = top = sum(pull)
    for i in range(1, 1 << (k - 1)):  # one sign at a time
        j = (i & -i).bit_length()
        value += 4 * (form[j][j] - x[j] * pull[j])
        x[j], top = -x[j], max(top, value)
        pull = [a + 2 * x[j] * b for a, b in each(pull, form[j])]
    return top <= most
def rounded(weights: list[float]) -> list[int]:  # in proportion, 1 at least: any weights are evidence
    top = F(2) ** (56 - math.frexp(max(weights))[1]) if max(weights) > 0 else false("evidence has no weight")
    return [math.floor(F(w) * top) + 1 for w in weights]
def paired(asked: Dyadic, moved: Dyadic) -> F:  # at most tr X of some X with [[G, X], [Xᵀ, C]] ⪰ 0
    # G ⪰ A·Aᵀ, C ⪰ R·Rᵀ and ‖K‖² ≤ most prove X = A·K·Rᵀ/√most, of tr X = Σ K·N/√most with N = Aᵀ·R; N's orthogonal
    # factor is the best K; and X is 0 of what stays as it is, where G has nothing beside its diagonal
    still = [not row[i] for i, row in enumerate(moved[0])]
    kept = [i for i, row in enumerate(asked[0]) if not still[i] or any(row[:i] + row[i + 1 :])]
    forms = [([[row[j] for j in kept] for row in (own[i] for i in kept)], over) for own, over in (asked, moved)]
    over = [places + 2 * BITS + places % 2 for _, places in forms]
    G, C = ([[x << (to - places) for x in row] for row in form] for (form, places), to in each(forms, over))
    (g, A), (d, R) = map(shown, (G, C))
    B, S = ([[x << p for x in row] for row, p in each(own, q)] for own, q in ((A, g), (R, d)))
    K = polar(N := times(turned(B), S))
    most = F(max(sum(map(abs, row)) for row in times(turned(K), K)), 4**BITS)
    return F(max(sum(map(dot, K, N)), 0), 1 << (3 * BITS + sum(over) // 2)) / root(most, 1, 400)
def proved(asked: Dyadic, given: Any, moved: Dyadic, mass: F, infinite: bool) -> F:
    # at most the square of the least ‖ω·deviations‖_p at μ = 1
    c = rounded(numbers(given, "evidence.query_weights", len(asked[0]), 0.0))
    found = paired((gram(asked[0], c), 2 * asked[1]), moved)
    return found**2 / (mass * (sum(c) if infinite else max(c)))

# -- means: how records become whole numbers, floor((x − center)·(1/step) + ½), and all that a neighbour changes of them
class Records:  # a box, a list of points, or an ellipsoid, and the grid that its records are coded on
    def __init__(self, question: Any, noise: Any, more: str, counted: bool, lifted: bool) -> None:
        self.counted, self.lifted, self.totals, self.cube, self.listed_points = counted, lifted, False, False, 0
        self.kind = next((name for name in ("lower", "points", "image") if name in question), "") or undecided(
            "the domain is none of these: a box, a list of points, a ball, an ellipsoid")
        fields(question, "question", f"columns center missing {more} {self.kind} " + "upper" * (self.kind == "lower"))
        self.d = d = len(question["columns"]) if len(question["columns"]) <= WIDEST else undecided("too many columns")
        self.center, self.hint = numbers(question["center"], "question.center", d), noise.get("reach")
        self.pivots = wholes(noise.get("pivots", list(range(d))), "noise.pivots", below=d)
        self.step = numbers(noise["step"], "noise.step", len(self.pivots), 2.0**-1000)
        if self.pivots != sorted(set(self.pivots)):
            false("noise.pivots do not rise")
        if self.kind == "lower":
            self.rows = [numbers(question[name], f"question.{name}", d) for name in ("lower", "upper")]
            stands = numbers(question["missing"], "question.missing", d)  # in for what is missing, as it is
            inside = all(a <= min(v, x) <= max(v, x) <= b for a, v, x, b in each(self.rows[0], self.center, stands, self.rows[1]))
            if not inside:
                false("question.center, or missing, is not between lower and upper")
        elif self.kind == "points":
            fits = len(question["points"]) ** 2 * (d + 30) <= 16 * WORK
            self.rows = table(question["points"] if fits else undecided("too many points"), "question.points", -1, d)
        else:
            image = fields(question["image"], "question.image", "factor base shift")
            base, given = fields(image["base"], "image.base", "kind size order"), image["factor"]
            self.cube = base["kind"] == "norm" and base["order"] == "inf" and "pair" not in noise
            if base["kind"] != "norm" or not (self.cube or base["order"] == 2.0):
                undecided("question.image: a unit ball that is neither Euclidean nor a cube is not decided here")
            self.start, self.dense = numbers(image["shift"], "image.shift", d), type(given[0]) is list
            given = [[x * (i == j) for j in range(d)] for i, x in enumerate(given)] if not self.dense else given
            self.rows = table(given, "image.factor", d, wholes([base["size"]], "image.base.size", below=WIDEST)[0])
            self.sizes = [sum((abs(F(x)) for x in self.rows[i]), ZERO) for i in self.pivots]
        if "about" in noise and one_of(noise["about"], "noise.about", "start"):
            self.center = self.rows[0] if self.kind == "points" else false("noise.about is of lists")
        self.apart: Rows = []  # of a list how many steps points are from the first, if steps are what decimals are apart by, or a part of it
        if any(math.frexp(s)[0] != 0.5 for s in self.step):
            moved = [[(F(row[i]) - F(self.rows[0][i])) / F(s) for i, s in each(self.pivots, self.step)] for row in self.rows] if self.kind == "points" else []
            self.apart = [[*map(round, row)] for row in moved]
            if not moved or largest(less(moved, self.apart)) * 2**8 > 1:  # but for what floats round
                false("noise.step is not made of powers of two, nor of what all numbers are whole multiples of")
    def offset(self) -> bool:  # whether changes are about a point, beside how far records are from it
        return self.counted and (self.lifted or self.kind != "image" or any(self.start))
    def codes(self) -> Rows:  # of the listed points, or of the two ends of a box
        own = list(each(self.pivots, self.step))
        found = [[(row[i] - self.center[i]) * (1 / s) + 0.5 for i, s in own] for row in self.rows]
        rows = [list(map(math.floor, row)) for row in found] if largest(found) <= 2**52 else false("codes beyond 2^52")
        return [[x + y for x, y in each(rows[0], row)] for row in self.apart] or rows
    def slack(self) -> list[F]:  # how far rounding can take a change of an image's codes
        # each record by half a step, and, as is believed, 2^-42 of its reach, its place's rounding, a quarter of a step
        near = [size * (F(1, 1 << 42) + F(len(self.rows[0]) * self.dense + 1, 1 << 51)) + abs(F(self.start[i])) / 2**51
                for size, i in each(self.sizes, self.pivots)]
        away = [x + y + abs(F(self.start[i]) - F(self.center[i])) for x, y, i in each(self.sizes, near, self.pivots)]
        if any(x > F(s) * 2**51 for x, s in each(away, self.step)):
            false("codes beyond 2^51")  # where floats round by more than a quarter of a step
        still = self.counted and not self.lifted  # then also where records are all at one place, which is no whole code
        return [(x / F(s) + F(3, 4)) * (2 - self.counted) * (still or y > 0)
                for x, s, y in each(near, self.step, self.sizes)]
    def rounding(self) -> list[F]:  # how far from a record its codes are at most, in steps
        if self.kind == "image":
            return [F(x > 0) / 2 for x in self.sizes]
        if self.kind == "lower":
            return [F(self.rows[0][i] < self.rows[1][i]) / 2 for i in self.pivots]
        codes = self.codes()
        return [max(abs((F(row[i]) - F(self.center[i])) / F(s) - own[k]) for row, own in each(self.rows, codes))
                for k, (i, s) in enumerate(each(self.pivots, self.step))]
    def ends(self) -> list[tuple[F, F]]:  # of each column
        if self.kind != "image":
            return [(min(map(F, x)), max(map(F, x))) for x in turned(self.rows)]
        far = [sum((abs(F(x)) for x in row), ZERO) if self.cube else root(sum((F(x) ** 2 for x in row), ZERO), 0) for row in self.rows]
        return [(F(v) - x, F(v) + x) for v, x in each(self.start, far)]
    def widths(self) -> list[F]:  # at least how far one neighbour changes each code
        if self.kind != "image":
            return [F(max(map(abs, own)) if self.counted else max(own) - min(own)) for own in turned(self.codes())]
        away = [abs(F(self.start[i]) - F(self.center[i])) for i in self.pivots] if self.counted else self.sizes
        return [(x + y) / F(s) + off for x, y, off, s in each(self.sizes, away, self.slack(), self.step)]
    def moves(self, count: int) -> set[Orbit]:  # how far one neighbour can move each of the integers, all that is possible
        codes = self.codes() if self.kind != "image" else undecided("independent noise on balls and ellipsoids")
        if len(codes) ** 2 * self.d > 1 << 14:
            undecided("so many changes under a pure budget")
        if self.kind == "lower":
            codes = [[max(map(abs, x)) if self.counted else x[1] - x[0] for x in turned(codes)]]
        elif not self.counted:
            codes = [[x - y for x, y in each(codes[i], codes[j])] for i in range(len(codes)) for j in range(i + 1)]
        return {(*map(abs, row), *[count] * self.lifted) for row in codes}
    def noise(self, noise: Any) -> Noise:
        return Noise(noise, len(self.pivots) + self.lifted)
    def covers(self, noise: Noise, count: int, limit: F) -> bool:  # whether no μ² of a change is more
        # an image's are ±(offset + F·x, count) or 2F·x, |x| ≤ 1, and roundings: with N = T·(F | offset), |N·(x, ±1)|²
        # is at most t + s where diag(t, …, t, s) − NᵀN ⪰ 0 (S-lemma); the file has their shares
        if self.kind == "lower":
            ends = turned(self.codes())
            if noise.diagonal:
                half = [max(map(abs, own)) if self.counted else own[1] - own[0] for own in ends] + [count] * self.lifted
                return sum((F(h << noise.over, row[i]) ** 2 for i, (h, row) in enumerate(each(half, noise.factor)) if h), ZERO) <= limit
            apart = [[(b - a) * (i == j) for j in range(len(ends) + self.lifted)] for i, (a, b) in enumerate(ends) if b > a]
            rows = [[a + b for a, b in ends] + [2 * count] * self.lifted, *apart]  # ±1 times each: twice the changes
            rows = rows if self.counted else [[2 * x for x in row] for row in apart]
            seen = times(rows, turned(noise.turn()))
            return below(times(seen, turned(seen)), math.floor(limit / (1 + F(1, 1 << 60)) * 4 ** (BITS + 1)), self.hint)
        limit, turn = limit / (1 + F(1, 1 << 60)), turned(noise.turn())
        if self.kind == "points":
            seen = times([list(row) for row in {(*row, *[count] * self.lifted) for row in self.codes()}], turn)
            return bool((max(dot(x, x) for x in seen) if self.counted else farthest(seen)) <= limit * 4**BITS)
        (rows, over), slack = self.columns(count, self.step), self.slack()
        if self.cube and not self.hint and len(rows) + len(slack) <= 13:  # rounding is a cube, too
            rows = rows + [[math.ceil(x * 2**over) * (i == j) for j in range(len(rows[0]))] for i, x in enumerate(slack)]
            slack = []
        off = sum(sum(map(mul, map(abs, row), slack), ZERO) ** 2 for row in turned(turn))
        seen, k = times(rows, turn), len(rows) - self.offset()
        most = math.floor(max(root(limit, 0) * 2**BITS - root(F(off), 1), ZERO) ** 2 * 4**over)
        if self.cube:
            form = times(seen, turned(seen))
            return below(form, most, self.hint)
        *balls, last = map(F, numbers(self.hint or self.hinted(seen, k), "noise.reach", -1, 2.0**-900))
        form, share = times(seen, turned(seen)), math.floor(most * last / (max(balls) + last)) if self.offset() else 0
        share = form[k][k] + (form[k][k] >> 60) if self.offset() and not any(form[k][:k]) else share
        room = [[(i == j) * (share if i == k else most - share) for j in range(len(rows))] for i in range(len(rows))]
        return semidefinite(less(room, form))
    def hinted(self, seen: Rows, k: int) -> list[float]:  # about the best shares: s(t) = |o|² + ⟨v, (t − A)⁻¹v⟩, where t + s is least
        top = 1 << largest(seen).bit_length()
        form = [[dot(x, y) for y in own] for own in [[[x / top for x in row] for row in seen]] for x in own]
        if len(form) == k:
            return [1.0] * (k + 1)
        A, v, low = [row[:k] for row in form[:k]], form[k][:k], max(sum(map(abs, row[:k])) for row in form[:k])
        def least(t: float) -> float:
            try:
                y = inverse([[t * (i == j) - x for j, x in enumerate(row)] for i, row in enumerate(A)])
            except ZeroDivisionError:
                return math.inf
            return float(form[k][k] + sum(dot(row, v) * x for row, x in each(y, v)))
        near = [1.0] * k
        for _ in range(200):  # the greatest eigenvalue of A
            near = [dot(row, near) for row in A]
            low = math.sqrt(dot(near, near)) or 1.0
            near = [x / low for x in near]
        low, high = low * (1 + 1e-15), low * (1 + 1e-14) + math.sqrt(dot(v, v)) * 2
        for _ in range(60):
            one, two = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, two) if one + least(one) < two + least(two) else (one, high)
        return [high] * k + [min(max(least(high), 1e-200), 1e200)]
    def columns(self, count: int, steps: list[float]) -> Dyadic:  # 2Fᵀ, or (F | offset, count)ᵀ, in these steps
        if self.kind == "lower":  # of a box about another point than its middle, the offset first
            ends = [(F(a), F(b), F(v)) for a, b, v in each(*self.rows, self.center)]
            found = [[(b - a) / 2 * (i == j) for j in range(self.d + self.lifted)] for i, (a, b, _) in enumerate(ends)]
            found = found if self.totals else [*filter(any, found)]
            return dyadic([[(a + b) / 2 - v for a, b, v in ends] + [F(count)] * self.lifted, *found])
        columns = turned([self.rows[i] for i in self.pivots])
        found = [[(2 - self.counted) * F(x) for x in row] + [ZERO] for row in columns]
        offset = [F(self.start[i]) - F(self.center[i]) for i in self.pivots] + [F(count)]
        return dyadic([[x / F(s) for x, s in zip(row, steps + [1.0] * self.lifted, strict=False)]
                       for row in found + [offset] * self.offset()])
    def listed(self, chosen: Any) -> Dyadic:  # points by number, lifted where they count, or differences of two
        if self.kind == "lower" or self.cube:  # corners by bits: of ranges that have a width, 1 for the lower end
            rows, places = self.columns(1, [1.0] * len(self.pivots))
            rows = [*rows[1:], rows[0]] if self.totals and not self.cube else rows  # of which the offset is the last
            signs = [[1 - 2 * (i >> j & 1) for j in range(len(rows) - 1)] for i in wholes(chosen, "evidence.vertices")]
            return [[dot([1, *own], column) for column in turned(rows)] for own in signs], places
        exact, places = dyadic([[row[i] for i in self.pivots] for row in [*self.rows, self.center]])
        two = type(chosen[0]) is list and not self.counted
        ends = [wholes(own if two else [own], "evidence.vertices", 1 + two, below=len(self.rows)) for own in chosen]
        beside = [exact[own[1]] if two else exact[-1] if self.counted else [0] * len(exact[-1]) for own in ends]
        return [[a - b for a, b in each(exact[own[0]], other)] + [1 << places] * self.lifted
                for own, other in each(ends, beside)], places
    def moment(self, given: Any, plain: str = "") -> tuple[Dyadic, F]:  # C, and at least its weights' mass on changes
        chosen, squares = given.get(f"{plain}vertices"), given.get(f"{plain}squares")
        if (self.kind == "lower" or self.cube) and f"{plain}means" in given:  # signs, independent, that lean to one side
            rows, places = self.columns(1, [1.0] * len(self.pivots))
            means = numbers(given[f"{plain}means"], "evidence.means", len(rows), -1.0, below=math.nextafter(1, 2))
            (b,), over = dyadic([means])
            mean = turned(times([b], rows))
            return (less(gram(rows, [4**over - x * x for x in b]), [[-x[0] * y[0] for y in mean] for x in mean]),
                    2 * (places + over)), F(1)
        if self.kind == "lower" and not chosen and not squares and f"{plain}points" not in given:
            far = [(F(b) - F(v), F(v) - F(a), F(b) - F(a)) for a, b, v in each(*self.rows, self.center)]
            one = self.d == 1 and not self.lifted  # else corners are as likely as makes their mean 0
            own = [w * w if not self.counted else max(x, y) ** 2 if one else x * y for x, y, w in far]
            own += [F(1)] * self.lifted
            return dyadic([[x * (i == j) for j in range(len(own))] for i, x in enumerate(own)]), F(1)
        fits, box = self.kind != "points" and not chosen, self.kind == "lower" or self.cube
        _ = self.cube and squares and undecided("evidence on squares of a cube's image")
        rows, places = self.columns(1, [1.0] * len(self.pivots)) if fits else self.listed(chosen)
        k, ball = len(rows), (len(rows) - self.offset()) * (not box)
        w = rounded(numbers(squares or given[f"{plain}vertex_weights"], "evidence", -1, 0.0))
        if squares and fits:
            return (gram(rows, w), 2 * places), F(max(sum(w[:ball]), *w[ball:], 0))
        if fits:  # with a little on each axis, where they may be flat
            rows_of = table(given[f"{plain}points"], "evidence.points", len(w), k)
            spans = k <= 16 and solved(outer([[*map(F, row)] for row in rows_of]), [0] * k)[1] > 0
            exact, over = dyadic(rows_of + unit(k)[:0 if spans else k])
            w += [1] * (len(exact) - len(w))
            self.listed_points = len(w)
            norms = [max(dot(row[:ball], row[:ball]), *(x * x for x in row[ball:]), 0) for row in exact]
            return (gram(times(exact, rows), w), 2 * (places + over)), F(dot(w, norms), 4**over)
        form, mass = gram(rows, w), sum(w)  # of a list, or of differences of two that are drawn from it
        if one_of(given[f"{plain}measure"], "evidence.measure", "list" + " product" * (not self.counted)) == "list":
            return (form, 2 * places), F(mass)
        total = [dot(w, own) for own in turned(rows)] if type(chosen[0]) is int else false("evidence.vertices")
        form = [[2 * (mass * x - a * b) for x, b in each(row, total)] for row, a in each(form, total)]
        return (form, 2 * places), F(mass**2 - dot(w, w))
    def answers(self, noise: Any) -> Dyadic:  # the matrix from what is summed to what is answered
        r, d = len(self.pivots), self.d
        if "embed" not in noise:
            return (unit(d + self.lifted), 0) if r == d else false("noise.embed is missing")
        rows = self.rows if self.kind == "points" else undecided("noise.embed is decided of lists of points alone")
        exact, places = dyadic([*table(noise["embed"], "noise.embed", d, r), self.center, *rows])
        embed, moved = exact[:d], less(exact[d:], [exact[d + 1]] * (len(exact) - d))  # all beside the first point
        wrong = [[(x << places) - dot(e, [row[i] for i in self.pivots]) for x, e in each(row, embed)] for row in moved]
        off = wrong if self.counted and not self.lifted else wrong[1:]  # of totals also how all are about 0
        if largest(off) * 10**9 > largest(moved[1:]) << places:  # as near as a file can say it
            false("noise.embed is not how the domain's coordinates follow from each other")
        lift = [[-x * (i not in self.pivots)] * self.lifted for i, x in enumerate(wrong[0])]
        return ([[*(x << places for x in e), *f] for e, f in each(embed, lift)]
                + [[0] * r + [1 << (2 * places)]] * self.lifted), 2 * places
# -- moments: z, the products zᵢzⱼ and the squares t = z² of records c + r·z of a box, or a ball, about its middle c
class Block:  # L that is diagonal but for a block at the squares, and the count; or a whole matrix
    def __init__(self, noise: Any, r: int, places: list[int]) -> None:
        kind = one_of(noise["kind"], "noise.kind", "diagonal block dense")
        self.whole, self.places = kind == "dense", places
        if self.whole:
            self.alone, self.scale = list[int](), list[float]()
            self.places, self.inner = [*range(r)], Noise(noise if r <= WIDEST else undecided("too many moments"), r)
            return
        if kind == "block" and wholes(noise["places"], "noise.places") != places:
            undecided("noise.places that are not those of squares and the count")
        self.alone = sorted({*range(r)} - {*places})
        given = numbers(noise["scale"], "noise.scale", r if kind == "diagonal" else len(self.alone), 2.0**-1000)
        self.scale = [given[i] for i in self.alone] if kind == "diagonal" else given
        inner = {"kind": kind, "scale": [given[i] for i in places]} if kind == "diagonal" else noise | {"kind": "dense"}
        self.inner = Noise(inner, len(places))
    def variances(self, _: Any, steps: list[float]) -> list[F]:  # of each coordinate, in these steps
        found = dict(each(self.places, self.inner.variances((unit(len(self.places)), 0), [steps[i] for i in self.places])))
        found |= {i: (F(s) * F(steps[i])) ** 2 for i, s in each(self.alone, self.scale)}
        return [found[i] for i in range(len(steps))]
def multipliers(graph: list[list[float]], least: list[float]) -> list[float]:  # about y ≥ (−∞, least) of the least sum with
    # graph + diag(y) ⪰ 0: Newton's method on Σ y − w·(log det(graph + diag(y)) + Σ log(y − least)), w falling
    def added(y: list[float], one: Any = 1.0) -> Any:
        return [[type(one)((x + y[i] * (i == j)) * one) for j, x in enumerate(row)] for i, row in enumerate(graph)]
    y = [1.01 * sum(row) for row in graph]
    y = [y[0], *(max(x, low + (abs(low) + x) / 1000) for x, low in each(y[1:], least))]
    most = weight = sum(y) / len(y)
    while weight > 1e-12 * most:
        for _ in range(30):
            near, turn = [0.0, *(1 / (x - low) for x, low in each(y[1:], least))], inverse(added(y))
            slope = [1 - weight * (row[i] + x) for i, (row, x) in enumerate(each(turn, near))]
            bend = [[weight * (z * z + x * x * (i == j)) for j, z in enumerate(row)]
                    for i, (row, x) in enumerate(each(turn, near))]
            step, part = [-dot(row, slope) for row in inverse(bend)], 1.0
            while part > 1e-12 and not (all(x + part * s > low for x, s, low in each(y[1:], step[1:], least)) and shows(
                    partial(semidefinite, added([x + part * s for x, s in each(y, step)], 1 << 100)))):
                part /= 2
            if part <= 1e-12:
                return y
            y = [x + (part if part == 1 else 0.9 * part) * s for x, s in each(y, step)]
            if -dot(slope, step) < weight / 1000:
                break
        weight /= 20
    return y
def opposite(n: list[int], table: Rows, e: Rows, most: int) -> bool:  # whether, for −1 ≤ u ≤ 1 and q = 1 − u²,
    # Σ n(1 − u)² + Σ table(1 − uᵢuⱼ)² + qᵀe·q ≤ most: in a cell about m with half sides h, where no second derivative is
    # below −c, by its corners and Σ ch²/2
    one, pairs, seen = 1 << 24, [*combinations(range(len(n)), 2)], 0
    @lru_cache(1 << 16)
    def value(u: Orbit) -> int:
        q = [(one + x) * (one - x) for x in u]
        own = sum(k * (one - x) ** 2 for k, x in each(n, u)) * one**2 + dot([dot(row, q) for row in e], q)
        return int(own + sum(table[i][j] * (one**2 - u[i] * u[j]) ** 2 for i, j in pairs))
    cells = [((0,) * len(n), (one,) * len(n))]
    while cells and (seen := seen + 1) < MANY >> 4:
        m, h = cells.pop()
        top = max(map(value, product(*((x - y, x + y) for x, y in each(m, h)))))
        ends = [(max(abs(x) - y, 0) ** 2, (abs(x) + y) ** 2) for x, y in each(m, h)]
        bends = [max(0, 4 * sum(x * (one**2 - (low if x > 0 else high)) for j, (x, (low, high)) in enumerate(each(row, ends)) if j != i)
                     + row[i] * (4 * one**2 - 12 * ends[i][0]) - 2 * n[i] * one**2
                     - 2 * sum(x * low for x, (low, _) in each(own, ends))) * h[i] ** 2
                 for i, (row, own) in enumerate(each(e, table))]
        if top > most * one**4 or (side := bends.index(max(bends)), h[side])[1] < 2:
            return False
        if 2 * top + sum(bends) > 2 * most * one**4:
            half = (*h[:side], h[side] // 2, *h[side + 1:])
            cells += [((*m[:side], m[side] + s * half[side], *m[side + 1:]), half) for s in (1, -1)]
    return not cells
class Moments:  # of a box, or a ball, and the grid that they are coded on
    def __init__(self, question: Any, noise: Any, more: str, counted: bool, lifted: bool) -> None:
        self.counted, self.lifted, self.ball, kind = counted, lifted, "ball_moments" in question, "moments"
        kind, known = ("ball_moments", "center radius") if self.ball else (kind, "lower upper")
        given = fields(fields(question, "question", f"columns center missing {more} {kind}")[kind], f"question.{kind}", known)
        self.kind, d = kind, len(question["columns"])
        if not self.ball < d <= WIDEST or {*noise} & {"pivots", "embed", "about", "reach"} or counted > lifted:
            undecided("moments of so many columns, or some of them, or totals of them")
        ends = [numbers(given[k], f"question.{kind}", d) for k in known.split() if k != "radius"]
        middle = ends[0] if self.ball else [a + (b - a) / 2 for a, b in each(*ends)]
        sides = [[F(b) - F(c), F(c) - F(a)] for a, b, c in each(ends[0], ends[-1], middle)]
        sides = [[single(given["radius"], "question.radius")]] * d if self.ball else sides
        self.outer, self.inner = ([pick(x) for x in sides] for pick in (max, min))
        self.pairs = [*combinations_with_replacement(range(d), 2)]
        self.squares, self.d = [d + k for k, (i, j) in enumerate(self.pairs) if i == j], d + len(self.pairs)
        self.center, self.step = (numbers(own, "center, step", self.d) for own in (question["center"], noise["step"]))
        if any(s < 2.0**-1000 or math.frexp(s)[0] != 0.5 for s in self.step) or min(self.inner) <= 0:
            false("noise.step is not made of powers of two, or records have no width")
        if self.center != [*middle, *(x * (i == j) for x, (i, j) in each(self.center[d:], self.pairs))]:
            undecided("moments about another point than the middle of columns, and 0 of products")
        self.pivots, self.away = [*range(self.d)], [F(self.center[k]) for k in self.squares]
    def answers(self, _: Any) -> Dyadic:  # what is summed is what is answered
        return [], 0
    def noise(self, noise: Any) -> Block:
        return Block(noise, self.d + self.lifted, [*self.squares, self.d][: len(self.squares) + self.lifted])
    def rounding(self) -> list[F]:  # how far from a record its codes are at most, in steps
        return [F(1, 2)] * self.d
    def ends(self) -> list[tuple[F, F]]:  # of each moment, those of the middle of records and of products about it
        r, at = self.inner, [F(c) for c in self.center[:len(self.inner)]]
        return [(c - x, c + x) for c, x in each(at, r)] + [
            (ZERO, r[i] ** 2) if i == j else (-r[i] * r[j] / (1 + self.ball), r[i] * r[j] / (1 + self.ball)) for i, j in self.pairs]
    def units(self, radii: list[F]) -> list[F]:  # of each moment
        return radii + [radii[i] * radii[j] for i, j in self.pairs]
    def covers(self, noise: Block, count: int, limit: F) -> bool:  # whether no μ² of a change is more
        r, d, k = self.outer, len(self.outer), self.d
        near = [x * (F(1, 1 << 42) + F(1, 1 << 51)) + abs(F(c)) / 2**51 if self.ball else ZERO for x, c in each(r, self.center[:d])]
        off = near + [near[i] * (r[j] + near[j]) + near[j] * r[i] + r[i] * r[j] / 2**50 for i, j in self.pairs]
        units = [x / F(s) for x, s in each(self.units(r), self.step)]
        away = dict(each(self.squares, (-x / F(self.step[p]) for p, x in each(self.squares, self.away))))
        far = [x + abs(away.get(p, ZERO)) + 1 for p, x in enumerate(units)]  # of which three roundings of floats are as much, or a quarter
        off = [(x / F(s) + F(1, 2) + min(y / 2**51, F(1, 4))) * (2 - self.counted) for x, y, s in each(off, far, self.step)] + [ZERO] * self.lifted
        if max(x + y + abs(away.get(p, ZERO)) for p, (x, y) in enumerate(zip(units, off, strict=False))) > 1 << 51:
            false("codes beyond 2^51")
        places, turn = noise.places, noise.inner.turn()
        rows = [[units[p] * (p == q) for q in places] for p in places if p < k]
        rows += [[away.get(p, F(count) if p == k else ZERO) for p in places]] * self.counted
        exact, over = dyadic(rows)
        seen = times(exact, turned(turn))
        form, scale = times(seen, turned(seen)), 4 ** (BITS + over)
        lost = sum((F(dot(map(abs, row), [off[p] for p in places]), 1 << BITS) ** 2 for row in turn), ZERO)
        lost += sum(((off[i] / F(s)) ** 2 for i, s in each(noise.alone, noise.scale)), ZERO)
        limit = max(root(limit / (1 + F(1, 1 << 60)), 0) - root(lost, 1), ZERO) ** 2
        together = [places.index(p) for p in self.squares] + [len(form) - 1] * self.counted
        alone = {i: (units[i] / F(s)) ** 2 for i, s in each(noise.alone, noise.scale)}
        if noise.whole:  # the mean over flips of signs has nothing beside these: nowhere less, but for a part, and a little
            kept = [[(x + (largest(form) >> 43) * (i == j)) * (i == j or {i, j} <= {*together}) for j, x in enumerate(row)]
                    for i, row in enumerate(form)]
            semidefinite([[(x << 44) - ((1 << 44) - 1) * y for x, y in each(*own)] for own in each(kept, form)])
            limit, form = limit * (1 - F(1, 1 << 44)), kept
            alone = {i: F(form[i][i], scale) for i in range(k)}
        if not limit:
            return False
        one = 2**100 / limit
        n, table = [math.ceil(alone[i] * one) for i in range(d)], [[0] * d for _ in range(d)]
        for p, (i, j) in enumerate(self.pairs, d):
            table[i][j] = table[j][i] = math.ceil(alone[p] * one) if i < j else 0
        gram = [[math.floor(F(form[i][j], scale) * one) for j in together] for i in together]
        return (self.turned if self.ball else self.flipped)(n, table, gram, 2**100 - len(gram) ** 2)
    def turned(self, n: list[int], table: Rows, gram: Rows, most: int) -> bool:  # of a ball: forms that rotations leave
        d, last, beside = len(n), gram[-1][-1] * self.counted, ZERO
        sides = [F(row[-1]) for row in gram[:d]] if self.counted else []
        form = [row[:d] for row in gram[:d]]
        whole, trace = F(sum(map(sum, form)), d), sum(form[i][i] for i in range(d))
        split = (trace - whole) / (d - 1)
        left = root(sum(((x - split * (i == j) + (split - whole) / d) ** 2
                         for i, row in enumerate(form) for j, x in enumerate(row)), ZERO), 1)
        a = max(split, F(largest(table), 2), F(1))
        kappa, one = max(whole / d, ZERO) + a * (1 - F(1, d)), F(max(n))
        if self.counted:
            beside = sum(sides, ZERO) / d
            left += 2 * root(sum(((x - beside) ** 2 for x in sides), ZERO), 1)
            return bool(max(F(last), one + kappa + 2 * beside + last) + left <= most)
        low, high = ((1 - root(max(1 - 2 * one / kappa, ZERO), up)) / 2 for up in (1, 0))  # g rises to the lesser root
        found = [4 * one, (1 + high) ** 2 * (one + kappa * (1 - low) ** 2) if 2 * one <= kappa else ZERO]
        found.append(2 * one + one**2 / (2 * a) + 2 * a if one <= 2 * a else ZERO)
        return bool(max(found) + 2 * left <= most)
    def flipped(self, n: list[int], table: Rows, gram: Rows, most: int) -> bool:  # of a box: forms that flips of signs leave
        d, few = len(n), len(n) <= 6
        if self.counted:  # convex in each square: t of 0 and 1, or tᵢtⱼ ≤ (tᵢ + tⱼ)/2 about each end
            last, straight = gram[d][d], [n[i] + gram[i][i] + 2 * gram[i][d] for i in range(d)]
            q = [[(table[i][j] + 2 * gram[i][j]) * (i != j) for j in range(d)] for i in range(d)]
            if few:
                return all(2 * (last + dot(straight, t)) + dot([dot(row, t) for row in q], t) <= 2 * most
                           for t in product((0, 1), repeat=d))
            half = [sum(max(x, 0) for x in row) for row in q]
            low = 2 * last + sum(max(2 * x + y, 0) for x, y in each(straight, half))
            high = 2 * (last + sum(straight)) + sum(map(sum, q))
            high += sum(max(y - 2 * x - 2 * sum(row), 0) for x, y, row in each(straight, half, q))
            return bool(min(low, high) <= 2 * most)
        e = [[max(x, -x - table[i][j] // 2) if i != j else max(x, 0) for j, x in enumerate(row)] for i, row in enumerate(gram)]
        if few:
            return opposite(n, table, e, most)
        graph = [[0, *n], *([x, *row] for x, row in each(n, table))]  # a cut's relaxation: uᵀ(graph + diag(y))u ≥ 0
        least = [sum(own) - x - sum(row) // 2 for own, x, row in each(e, n, table)]
        scale = 2.0**-100
        found = multipliers([[x * scale for x in row] for row in graph], [x * scale for x in least])
        more = max(map(abs, found)) * 2.0**-46
        y = [int((x + more) * 2.0**100) for x in found]
        semidefinite([[x + y[i] * (i == j) for j, x in enumerate(row)] for i, row in enumerate(graph)])
        return bool(y[0] + sum(map(max, y[1:], least)) + sum(map(sum, graph)) <= most)
    def proved(self, evidence: Any, plain: str, weights: list[float], infinite: bool) -> F:  # as `proved`, of what flips,
        # or turns, of points, or pairs of them, have on the mean: nothing beside the squares' block
        d, given, w = len(self.inner), evidence[f"{plain}points"], rounded(numbers(evidence[f"{plain}vertex_weights"], "evidence", -1, 0.0))
        c = rounded(numbers(evidence[f"{plain}query_weights"], "evidence.query_weights", len(weights), 0.0))
        wide = (2 if self.ball else d) * (2 - self.counted)
        if (len(w) + d + 1) * self.d > 4 * MANY:
            undecided("too many points")
        given = unpacked(given, "evidence.points", [len(w), wide]) if type(given) is dict else given
        points = [list(map(F, numbers(row, "evidence.points", wide, -1.0, below=math.nextafter(1, 2)))) for row in given]
        rows = [[F(i == j) for j in range(wide)] for i in range(d)] + [[ZERO] * wide] * self.counted  # and a little of these
        points += [[F(1), *[ZERO] * (wide - 2), F(1, 2)], [ZERO] * (wide - 1) + [F(1, 2)]] if self.ball else rows
        w += [1] * (len(points) - len(w))
        rows = list[list[F]]()
        alone, much, units = [ZERO] * self.d, F(d * d * (d - 1) if self.ball else 1), self.units(self.inner)
        if self.ball:
            even = ZERO
            for x, own in each(w, points):
                first, second = own[0] ** 2, ZERO if self.counted else own[1] ** 2
                along = ZERO if self.counted else own[0] * own[1] * own[2]
                moved, split = first + second - 2 * along, first**2 + second**2 - 2 * along**2 - (first - second) ** 2 / d
                share = own[-1] if own[-1] >= 0 else false("evidence.points has a share below 0")
                rows.append([(first - second) / d] * d)
                even += x * (1 - share) * split / (d - 1)
                alone = [y + x * (moved / d if p < d else share * split / (d * (d - 1))) for p, y in enumerate(alone)]
            block = [[much * even * units[p] * units[q] * ((p == q) - F(1, d)) for q in self.squares] for p in self.squares]
        else:
            block = [[ZERO] * d for _ in range(d)]
            exact, over = dyadic(points)
            z = [[row[:d], row[d:] or [0] * d] for row in exact]
            moved = [[(own[0][i] - own[1][i]) << over for i in range(d)]
                     + [own[0][i] * own[0][j] - own[1][i] * own[1][j] for i, j in self.pairs] for own in z]
            alone = [F(sum(x * own[p] ** 2 for x, own in each(w, moved)), 1 << (4 * over)) for p in range(self.d)]
            rows = [[F(own[p], 1 << (2 * over)) for p in self.squares] for own in moved]
        rows = [[x * units[p] - v * self.counted for x, p, v in each(row, self.squares, self.away)] for row in rows]
        whole, over = dyadic([[x * d for x in row] + [F(d)] * self.counted for row in rows])
        scale = F(1, 4**over) * much / (d * d)
        moment = [[x * scale for x in row] for row in gram(whole, w)]
        for own, beside in each(block, moment[:d]):
            beside[:d] = [x + y for x, y in each(own, beside[:d])]
        (scaled,), places = dyadic([weights])
        asked = [x * y * y for x, y in each(c, scaled)]
        kept = [*self.squares, self.d][: d + self.counted]
        found = paired(([[asked[p] * (p == q) for q in kept] for p in kept], 2 * places), dyadic(moment))
        found += sum((root(F(asked[p], 4**places) * alone[p] * units[p] ** 2 * much, 0)
                      for p in range(self.d) if p not in {*self.squares}), ZERO)
        return found**2 / (sum(w) * much * (sum(c) if infinite else max(c)))
def records(question: Any, *more: Any) -> Any:  # of a question of moments, or of columns alone
    return (Moments if {*question} & {"moments", "ball_moments"} else Records)(question, *more)
# -- noise of a norm: its unit ball is all that changes, or an ellipsoid, level by level; and mixtures of balls
def series(y: int, a: F, b: F) -> F:  # at least Σ y^k/((a)_k·(b)_k), y over ONE, and hardly more
    term = total = ONE
    while term > 4 or a * b * ONE < 4 * y:  # then terms fall to a quarter, or less
        term = term * y * (a * b).denominator // ((a * b).numerator * ONE) + 1
        total, a, b = total + term, a + 1, b + 1
    return F(total + 4, ONE)
def rising(a: F, n: int) -> F:  # a·(a + 1)·…, n numbers
    return F(math.prod(a + k for k in range(n)))
def of_ball(d: int, x: F) -> tuple[F, F]:  # at least the ρ, and the total variation, of noise ∝ e^−|z| of d > 1 numbers moved by x
    # ρ = x²/2·(K_κ·I_κ + K_κ₋₁·I_κ₊₁), T = c·(K_κ·L_κ₋₁ + K_κ₋₁·L_κ), of c = x/2 and orders about κ = d/2; odd d have e^−c
    c = cut(x if x < 32 else undecided("noise of a ball of so great an ε"), 80 - math.frexp(float(x))[1], 1) / 2
    y, (m, odd), off = math.ceil(c * c / 4 * ONE), divmod(d, 2), F(1, 10**48)
    h, e, last, own = F(odd, 2), exp(-c, 1) if odd else F(1), F(1), F(1)
    if not odd:  # K₀ by its series, K₁ as I₀·K₁ + I₁·K₀ = 1/c
        zero, term, sums, total, k = series(y, F(1), F(1)), ONE, ZERO, 0, 0
        while term and k < 4000:
            k, sums = k + 1, sums + F(1, k + 1)
            term = term * y // (ONE * k * k)
            total += math.floor(term * sums)
        last = F(total, ONE) - (log(c / 2) + EULER) * zero + off * zero
        own = (1 / c - (1 - off) * c / 2 * series(y, F(1), F(2)) * (last - 2 * off * zero)) / (zero * (1 - off))
    for n in range(1 - odd, m):
        last, own = own, last + (2 * n + odd) / c * own
    def modified(j: int) -> F:  # I of order j + h, but for what K has and this has not
        return (c / 2) ** j / (2 * rising(h, j + 1) if odd else rising(F(1), j)) * series(y, F(1), j + 1 + h)
    def struve(j: int) -> F:  # L, likewise
        return (c / 2) ** (j + 1) / (rising(F(1), j + 1) if odd else PI * (1 - off) * rising(F(1, 2), j + 1) / 2) * series(
            y, F(3, 2), j + F(3, 2) + h)
    return 2 * c * c * e * (own * modified(m) + last * modified(m + 1)), c * e * (own * struve(m - 1) + last * struve(m))
def solved(rows: Any, right: Any) -> tuple[list[F], F]:  # a with rows·a = right, and the size of their determinant; (), 0 if none
    found, size = [[*map(F, row), F(x)] for row, x in each(rows, right)], F(1)
    for k in range(len(found)):
        at = next((i for i in range(k, len(found)) if found[i][k]), -1)
        if at < 0:
            return [], ZERO
        found[k], found[at] = found[at], found[k]
        size, pivot = size * abs(found[k][k]), [x / found[k][k] for x in found[k]]
        found = [pivot if i == k else [x - row[k] * y for x, y in each(row, pivot)] if row[k] else row for i, row in enumerate(found)]
    return [row[-1] for row in found], size
def outer(rows: Any) -> Any:  # Σ row·rowᵀ
    return [[dot(a, b) for b in turned(rows)] for a in turned(rows)]
def summed(parts: Any, total: F) -> Any:  # Σ weight·matrix/total
    listed = [(w, form) for w, form in parts]
    return [[sum((w * form[i][j] for w, form in listed), ZERO) / total for j in range(len(listed[0][1]))] for i in range(len(listed[0][1]))]
def of_tiles(segments: Rows) -> Any:  # E uuᵀ of a uniform point of Σ[−1, 1]·g: parallelepipeds, as heights choose them, fill it
    n, heights, parts = len(segments[0]), [pow(3, 37 * i + 41, (1 << 61) - 1) for i in range(len(segments))], []
    if len(segments) == n:
        return [[F(x, 3) for x in row] for row in outer(segments)]
    if math.comb(len(segments), n) * n**3 > 1 << 17:
        undecided("deviations of noise of the shape of so many segments")
    for chosen in combinations(range(len(segments)), n):
        a, size = solved([segments[i] for i in chosen], [heights[i] for i in chosen])
        if size:
            sides = [heights[i] - dot(a, g) if i not in chosen else 0 for i, g in enumerate(segments)]
            if sum(not x for x in sides) > n:
                undecided("segments that heights do not tell apart")
            center = [sum(((x > 0) - (x < 0)) * g[j] for x, g in each(sides, segments)) for j in range(n)]
            own = outer([segments[i] for i in chosen])
            parts.append((size, [[F(x, 3) + p * q for x, q in each(row, center)] for row, p in each(own, center)]))
    return summed(parts, sum((w for w, _ in parts), ZERO))
def of_simplex(points: Rows) -> Any:  # the same of all differences of n + 1 points, cut up by which of them come with which sign
    n, total = len(points[0]), [sum(x) for x in each(*points)]
    ways = [(F(math.comb(n + 1, p), math.factorial(p - 1) * math.factorial(n - p)), 2 * (F(1, p + 1) + F(1, n + 2 - p)) / (n + 1)) for p in range(1, n + 1)]
    part = sum((w * x for w, x in ways), ZERO) / sum((w for w, _ in ways), ZERO) / (n + 2)  # E of a share's square, over n
    return [[part * ((n + 1) * x - a * b) for x, b in each(row, total)] for row, a in each(outer(points), total)]
def of_hull(points: Rows) -> Any:  # the same of the hull of points and their opposites, by the simplices from 0 to its boundary
    n, first, rest = len(points[0]), list[list[int]](), list[list[int]]()
    for point in sorted(points, key=lambda own: -dot(own, own)):
        free = len(first) < n and solved(outer(turned([*first, point])), [0] * (len(first) + 1))[1]
        (first if free else rest).append(point)
    def faced(own: Any) -> tuple[list[int], int, F]:  # whole numbers a and b of a plane a·x = b beyond 0, and the determinant
        a, size = solved(own, [1] * n)
        b = math.lcm(*(x.denominator for x in a))
        return [int(x * b) for x in a], b, size
    faces = {frozenset(own): faced(own) for own in product(*(((*x,), (*(-y for y in x),)) for x in first))}
    for corner in (own for x in rest for own in ((*x,), (*(-y for y in x),))):
        seen = {face for face, (a, b, _) in faces.items() if dot(a, corner) > b}
        rims = Counter(face - {own} for face in seen for own in face)
        faces = {face: own for face, own in faces.items() if face not in seen}
        faces |= {rim | {corner}: faced([*rim, corner]) for rim, many in rims.items() if many == 1}
        if len(faces) > 4000 or len(faces) * n > 20000:
            undecided("deviations of noise of the shape of so many points")
    parts = [(size / ((n + 1) * (n + 2)), outer([*face, [sum(x) for x in each(*face)]])) for face, (_, _, size) in faces.items()]
    return summed(parts, sum((size for _, _, size in faces.values()), ZERO))
class Level(Noise):  # noise on W·q/2^over of q: a number times a uniform point of F·B or, without F, of all that changes there
    def __init__(self, given: Any, W: Rows, over: int, kept: list[int], r: int) -> None:
        self.scale, self.rows, self.places, n, self.shape = single(given["scale"], "noise.scale", 2.0**-1000), W, over, len(W), list[list[F]]()
        self.diagonal, self.around = False, "factor" in given
        if self.around:
            wide = given["factor"]["shape"] == [n, n]
            found = unpacked(given["factor"], "noise.factor", [n, n] if wide else [n])
            rows = found if wide else [[x * (i == j) for j in range(n)] for i, x in enumerate(found[0])]
            self.shape, self.diagonal = [[F(x) for x in row] for row in rows], not wide and not over
            own = dict(each(kept, found[0])) if self.diagonal else {}
            super().__init__({"kind": "diagonal", "scale": [abs(own.get(i, 1.0)) for i in range(r)]} if own else
                             {"kind": "dense", "factor": rows}, r if own else n)
            self.factor = [[x << over for x in row] for row in self.factor]
        self.whole = Rows()
    def turn(self) -> Rows:  # of q
        self.whole = self.whole or (super().turn() if self.diagonal else times(super().turn(), self.rows))
        return self.whole
    def changes(self, own: Records, count: int) -> tuple[Any, F]:  # what balls, segments or points they are made of, and its unit
        balls, segments, points, unit_of = Rows(), Rows(), Rows(), F(1)
        if own.kind == "points":
            codes = own.codes()
            if len(codes) ** 2 * own.d > 1 << 23:
                undecided("noise of the shape of so many points")
            points = ([[*row, *[count] * own.lifted] for row in codes] if own.counted else
                      [[x - y for x, y in each(a, b)] for i, a in enumerate(codes) for b in codes[:i]])
        elif own.kind == "lower":
            low, high = own.codes()
            segments = [[(b - a) * (2 - own.counted) * (i == j) for j in range(len(low) + own.lifted)] for i, (a, b) in enumerate(each(low, high))]
            segments += [[a + b for a, b in each(low, high)] + [2 * count] * own.lifted] * own.counted
            unit_of = F(1, 2)
        else:
            rows, over = own.columns(count, own.step)
            k, unit_of = (len(rows) - own.offset()) * (not own.cube), F(1, 1 << over)
            balls, segments = rows[:k], rows[k:]
        return (balls, segments, points), unit_of
    def spread(self, own: Records, count: int) -> Any:  # E uuᵀ
        n, one = len(self.rows), 1 << self.places
        if self.around:
            return [[x / (n + 2) for x in row] for row in outer(turned(self.shape))]
        ends = {(*row,) for row in times(own.codes(), turned(self.rows))} if own.kind == "points" and not own.counted else set()
        if len(ends) == n + 1 > 2:
            return [[x / one**2 for x in row] for row in of_simplex([[*row] for row in ends])]
        whole, unit_of = self.changes(own, count)
        balls, segments, points = ([x for x in times(given, turned(self.rows)) if any(x)] if given else [] for given in whole)
        points = [[*row] for row in {max((*x,), (*(-y for y in x),)) for x in points}]
        if n == 1:  # an interval
            far = root(F(sum(x * x for (x,) in balls)), 0) + sum(abs(x) for (x,) in segments) + max((abs(x) for (x,) in points), default=0)
            found = [[far * far / 3]]
        elif len(points) == n:  # a cross-polytope
            found = [[F(2 * x, (n + 1) * (n + 2)) for x in row] for row in outer(points)]
        elif points:
            if n > 6 or len(points) > 4096:
                undecided("deviations of noise of the shape of so many points, or in so many dimensions")
            found = of_hull(points)
        elif not balls:
            found = of_tiles(segments)
        elif not segments or (len(segments) == 1 and len(balls) == n - 1):  # an ellipsoid, or one and a segment that is not in it
            k = n if not segments else len(balls)
            found = [[F(x, k + 2) for x in row] for row in outer(balls)]
            found = [[x + F(y, 3) for x, y in each(*rows)] for rows in each(found, outer(segments))] if segments else found
        else:
            undecided("deviations of noise of the shape of an ellipsoid and a segment")
        return [[x * (unit_of / one) ** 2 for x in row] for row in found]
class Shape:  # noise of a norm on the integers that move: K-norm noise, level by level on the first of T·q, or a mixture of balls
    def __init__(self, file: File, own: Records, noise: Any, r: int, count: int) -> None:
        self.file, self.own, self.count = file, own, count
        self.kept = kept = wholes(noise.get("kept", list(range(r))), "noise.kept", below=r)
        moves = [i for i, x in enumerate([*own.widths(), *[F(count)] * own.lifted]) if x]
        if kept != sorted({*kept}) or not {*moves} <= {*kept} or not kept:
            false("noise.kept leaves out what moves")
        n, pick = len(kept), [[int(i == j) for j in range(r)] for i in kept]
        given, (self.rows, self.over) = [{"coordinates": n} | {k: noise[k] for k in ("scale", "factor") if k in noise}], (unit(n), 0)
        if file.law == "recursive":
            given, (self.rows, self.over) = noise["levels"], dyadic(unpacked(noise["rows"], "noise.rows", [n, n]))
        sizes = [wholes([fields(x, "noise.levels", "coordinates scale factor")["coordinates"]], "noise.levels", 1, least=1)[0] for x in given]
        if sizes != sorted({*sizes}, reverse=True) or sizes[0] != n:
            false("noise.levels do not fall from all coordinates")
        self.levels = [Level(x, times(self.rows[:m], pick) if i else pick, self.over if i else 0, kept, r)
                       for i, (m, x) in enumerate(each(sizes, given))]
        self.balls = None
        if file.law == "radial":
            many = wholes(noise["radii"]["shape"], "noise.radii.shape", 1)
            self.balls = Balls(n, *(unpacked(noise[k], f"noise.{k}", many if many[0] <= 1 << 12 else undecided("so many balls")) for k in ("radii", "weights")))
        if file.law in ("radial", "ellipsoid") and not self.levels[0].around:
            false("noise.factor is missing")
        if own.kind == "image":  # rounding makes what changes larger than what is asked for
            file.near = self.near()
    def variances(self, answers: Dyadic, steps: list[float]) -> list[F]:  # of rows of answers, in these steps
        n, (scale,), places = len(self.kept), *dyadic([[steps[i] for i in self.kept]])
        one, found = self.over + BITS, unit(n, FINE)
        if len(self.levels) > 1:  # T⁻¹: T·(2 − T⁻¹·T)
            found = [[int(x * 2.0**BITS) for x in row] for row in inverse([[x / (1 << self.over) for x in row] for row in self.rows])]
            for _ in range(5):
                found = times(found, less(unit(n, 2 << one), times(self.rows, found)), one)
            if largest(less(times(self.rows, found), unit(n, 1 << one))) >> (one - 150):
                false("noise.rows have no inverse, or hardly one")
        rows, over = times([[row[i] * s for i, s in each(self.kept, scale)] for row in answers[0]], found), answers[1] + places + BITS
        squares_of = [ZERO] * len(rows)
        for i, level in enumerate(self.levels):
            m, first = len(level.rows), len(self.levels[i + 1].rows) if i + 1 < len(self.levels) else 0
            radius = self.balls.second if self.balls else F((m + 1) * (m + 2))
            form = level.spread(self.own, self.count)
            top = 300 - max(math.frexp(float(x))[1] for row in form for x in row)
            whole = [[math.floor(x * F(2) ** top) for x in row] for row in form]
            _ = level.around or shown(whole)  # noise of fewer dimensions has another law
            if not i and len(self.levels) > 1:  # of q, and now of T·q
                whole, top = times(times(self.rows, whole), turned(self.rows)), top + 2 * self.over
            kept = [row[first:m] for row in rows]
            part = [row[first:] for row in whole[first:]]
            squares_of = [v + F(dot(row, [dot(row, own) for own in part])) * radius * level.scale**2 / F(2) ** (top + 2 * over)
                          for v, row in each(squares_of, kept)]
        return squares_of
    def near(self) -> int:  # to which power of 1/2 deviations around an image's changes are known, beside what rounding adds
        own, least = self.own, 36
        for level in (x for x in self.levels if not x.around):  # rounding is a box of a norm that no ellipsoid in it bounds from below
            (balls, segments, _), unit_of = level.changes(own, self.count)
            rows = times(balls + segments, turned(level.rows))
            off = [sum((abs(x) * y for x, y in zip(row, own.slack(), strict=False)), ZERO) / unit_of for row in level.rows]
            form, wide = outer(rows), [x * x * len(off) for x in off]
            def within(places: int, form: Any = form, wide: Any = wide) -> bool:  # its norm is at most 2^-places
                return shows(lambda: semidefinite([[x - math.ceil(wide[i] * 4**places) * (i == j) for j, x in enumerate(row)]
                                                   for i, row in enumerate(form)]))
            least = next((x for x in (36, 27, 20, 13) if x <= least and within(x + 2)), 0) or undecided(
                "records that are coded so coarsely, or are flat, with noise of their shape")
        return least
    def covers(self, level: Level, most: F) -> bool:  # whether no change is longer
        return shows(lambda: self.own.covers(level, self.count, most * most))
    def reveals(self) -> None:  # check what noise shows
        file, around = self.file, [level for level in self.levels if level.around]
        if self.balls:
            longest = self.balls.longest(file.limit, file.delta)
            file.hides(self.covers(around[0], longest * around[0].scale))
            file.apart = self.balls.beyond(ZERO, longest) if longest else ZERO
            file.charged(file.divergence(file.limit), file.shift(file.limit))
            return
        even = self.own.kind == "image" and not all(level.around for level in self.levels)
        less = 1 - F(even, 1 << 36)  # of an image's norm, which is that of a body as much larger, as is believed
        rest = file.limit - sum((less / level.scale for level in self.levels if not level.around), ZERO)
        most = rest / (sum((1 / level.scale for level in around), ZERO) or 1)
        far = dict.fromkeys(map(id, self.levels), less) | dict.fromkeys(map(id, around), max(most, ZERO))
        if around and len(self.levels) > 1 and len(self.kept) <= (10 if self.own.kind == "lower" or self.own.cube else 24):
            for level in around:  # each by itself
                low, high = F(1) - F(1, 1 << 20), F(1) + F(1, 1 << 20)
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (low, middle) if self.covers(level, middle) else (middle, high)
                far[id(level)] = high
        if even and 0 > rest > -file.limit / 2**20:
            undecided("by how much a norm of records that are rounded is larger than what they change")
        holds = rest >= 0 and all(self.covers(level, far[id(level)]) for level in around)
        even = self.own.kind == "image" and not self.own.cube and not self.own.offset()
        shares = [(len(x.rows) if x.around or even else 1, far[id(x)] / x.scale) for x in self.levels]
        file.hides(holds and sum((x for _, x in shares), ZERO) <= file.limit)
        file.charged(*(sum(own, ZERO) for own in each(*(file.revealed(d, x) for d, x in shares))))
def power(x: int, n: int) -> int:  # x^n, over FINE
    found = FINE
    while n:
        found, x, n = found * x >> BITS if n & 1 else found, x * x >> BITS, n >> 1
    return found
class Balls:  # a mixture of uniform laws on balls about 0: what it shows of a change
    def __init__(self, d: int, radii: Any, weights: Any) -> None:
        (near,), (given,) = radii, weights
        if d > 200 or not 0 < len(near) <= 1 << 12 or near != sorted({*near}) or not 2.0**-40 < near[0] < near[-1] * 2 < 2.0**40:
            undecided("noise.radii that do not rise, or are so many, so small or so great, or of so many dimensions")
        w, self.d, self.radii, n = [F(x) for x in numbers(given, "noise.weights", -1, 2.0**-1000)], d, [ZERO, *map(F, near)], len(near)
        self.total, self.second = sum(w, ZERO), sum((x * F(r) ** 2 for x, r in each(w, near)), ZERO) / sum(w, ZERO)
        self.mass, inside = [ZERO] * n, 0  # f_i·r_i^d of each shell over FINE, from the outermost
        own = [0] * n
        for i in range(n - 1, -1, -1):
            inside = math.floor(w[i] / self.total * FINE) + (inside * self.part(i + 1, i + 2) >> BITS if i + 1 < n else 0)
            own[i] = inside
        self.own, sums, self.rare, self.hidden = own, 0, 0, 0
        for i in range(n):  # the innermost shells that hold next to nothing
            sums += math.floor(w[i] / self.total * FINE)
            held = sums + (own[i + 1] * self.part(i + 1, i + 2) >> BITS if i + 1 < n else 0)
            if held >> (BITS - 180):
                break
            self.rare, self.hidden = i + 1, held
        m, odd = divmod(d, 2)  # B((d + 1)/2, 1/2)
        self.beta = math.floor(FINE * (2 * rising(F(1), m) / rising(F(3, 2), m) if odd else PI * rising(F(1, 2), m) / rising(F(1), m)))
    def part(self, a: int, b: int) -> int:  # (r_a/r_b)^d, at most 1
        return power(math.floor(self.radii[a] * FINE / self.radii[b]), self.d)
    def cap(self, a: F, r: F, h: F) -> int:  # the volume beyond the height h of a ball of radius r, in that of one of radius a
        d, u = self.d, abs(h) / r
        x = math.floor((1 - u * u) * FINE)
        term = total = FINE
        k, small = 0, (FINE - x) * max(d, 80) < 40 * FINE  # then 1/2 less what is below, else a series of its own; terms fall
        y, k = (FINE - x, 3) if small else (x, d + 3)
        own = d + 2
        while term > 15:
            term = (term * y >> BITS) * own // k
            total, own, k = total + term, own + 2, k + 2
        if small:
            inner = math.floor(u * FINE) * power(math.isqrt(x * FINE), d + 1) * total // (self.beta << BITS)
            found = math.floor((r / a) ** d * ((FINE >> 1) - inner))
        else:
            c = math.isqrt(max(math.floor((r * r - h * h) / (a * a) * FINE), 0) * FINE)
            found = math.floor(F(power(c, d + 1) * total // ((d + 1) * self.beta)) * (a * abs(h) / (r * r)))
        return found if h >= 0 else math.floor((r / a) ** d * FINE) - found
    def left(self, i: int, j: int, shift: F) -> int:  # the part of the ball i that is not within r_j of a point this far from 0
        a, b = self.radii[i], self.radii[j]
        if b >= a + shift or not i:
            return 0
        if a + b <= shift:
            return FINE
        if a >= b + shift:
            return FINE - self.part(j, i)
        h = (a * a + shift * shift - b * b) / (2 * shift)
        return self.cap(a, a, -h) - self.cap(a, b, shift - h)
    def beyond(self, epsilon: F, shift: F) -> F:  # at least ∫(f(z) − e^ε·f(z − s))⁺dz of |s| = shift
        n, own, e, found, inner = len(self.own), self.own, math.floor(exp(epsilon, 1) * FINE), self.hidden, 0
        begins, known, j = [0] * self.rare, dict[tuple[int, int], int](), self.rare  # what is rare counts in full
        def left(a: int, b: int) -> int:
            if (a, b) not in known:
                known[a, b] = self.left(a, b, shift)
            return known[a, b]
        if epsilon > 50:
            undecided("radial noise of so great an ε")
        for i in range(self.rare, n):  # the first shell of less density by e^ε
            while j < n and not (e * own[j] >> BITS) * self.part(i + 1, j + 1) >> BITS < own[i]:
                j += 1
            begins.append(j)
        for i in range(self.rare, n):
            found += own[i] * (left(i + 1, begins[i]) - (self.part(i, i + 1) * left(i, begins[i]) >> BITS)) >> BITS
        for j in range(n):
            while inner < n and begins[inner] <= j:
                inner += 1
            if inner > self.rare:
                weight = (e * own[j] >> BITS) * self.part(inner, j + 1) >> BITS
                found -= weight * (left(inner, j) - left(inner, j + 1)) >> BITS
        return F(found, FINE) + F(1, 1 << 96)  # what all roundings may come to, and ties
    def longest(self, epsilon: F, delta: F) -> F:  # a length, hardly less than the greatest, of changes that show no more
        if delta <= F(1, 1 << 90):
            return ZERO
        last, own = F(1) - F(1, 1 << 20), F(1)
        before, now = (self.beyond(epsilon, x) - delta for x in (last, own))
        for _ in range(20):
            if abs(now) * 2**60 <= delta * F(1, 1 << 12) or now == before:
                break
            last, own, before = own, cut(own - now * (own - last) / (now - before), 120, 0), now
            if not F(1, 1 << 20) < own < 1 << 20:
                false("noise.radii are of no change of about the length 1")
            now = self.beyond(epsilon, own) - delta
        for i in range(8):  # until it is sure
            if now <= 0:
                return own
            own *= 1 - F(1 << (4 * i), 1 << 68)
            now = self.beyond(epsilon, own) - delta
        false("noise.radii are of no change of about the length 1")
class Around:  # noise of the norm of an ellipsoid on moments, of which no change is longer than in Gaussian noise of that shape
    def __init__(self, file: File, own: Any, noise: Any, r: int, count: int) -> None:
        if file.law != "ellipsoid" or "kept" in noise or r > WIDEST:
            undecided("moments under a pure budget, but with noise of an ellipsoid, or so many")
        self.file, self.own, self.count, self.scale = file, own, count, single(noise["scale"], "noise.scale", 2.0**-1000)
        wide = noise["factor"]["shape"] == [r, r]
        rows = unpacked(noise["factor"], "noise.factor", [r, r] if wide else [r])
        self.given = {"kind": "dense", "factor": rows} if wide else {"kind": "diagonal", "scale": [abs(x) for x in rows[0]]}
        self.law = Noise(self.given, r)
    def reveals(self) -> None:  # check what noise shows
        limit, r = self.file.limit, len(self.law.factor)
        self.file.hides(self.own.covers(self.own.noise(self.given), self.count, (limit * self.scale) ** 2))
        self.file.charged(*self.file.revealed(r, limit))
    def variances(self, answers: Dyadic, steps: list[float]) -> list[F]:  # of rows of answers, in these steps
        r = len(self.law.factor)  # r + 1 times those of a Gaussian of that factor, as E|z|² of the norm is (r + 1)(r + 2), over r + 2
        return [(r + 1) * self.scale**2 * v for v in self.law.variances(answers, steps)]
class Values:  # means, or totals, of a table or of each group: their noise, how answers stray, and what is proved
    def __init__(self, file: File, question: Any, noise: Any, totals: bool, grouped: bool = False) -> None:
        size, drops, given = file.terms["size"], question["drops_missing"], noise["count_step"]
        counted = file.counted or grouped  # within a group records come and go
        lifted, self.infinite = counted and not totals, file.infinite
        fields(noise, "noise", f"step count_step pivots embed about {PARTS.get('block' if noise.get('kind') == 'block' else WHOLE if file.pure == WHOLE else file.law, 'scales')}")
        self.own = records(question, noise, "kind drops_missing", counted, lifted)
        if totals and counted:
            self.own.totals, self.own.center = True, [0.0] * self.own.d  # what they are about
        self.count = int(1 / single(given, "noise.count_step", 2.0**-52)) if lifted else 0
        fits = size is None if file.counted else type(size) is int and size > 0 and not drops
        if not fits or type(drops) is not bool or (self.count * F(given) != 1 if lifted else given is not None):
            false("size, noise.count_step and question.drops_missing do not fit the relation")
        self.far, self.scales, self.moved = list[F](), list[F](), ZERO
        self.n, self.answers, steps = 1 if totals or counted else size, self.own.answers(noise), self.own.step
        steps, self.plain = steps + [1 / (self.count or 1)] * lifted, file.terms["question"]["kind"] == "queries"
        given = file.terms["weights"] if "weights" in file.terms or not self.plain else [1.0] * self.own.d
        self.law, self.pure, self.steps = file.law, file.pure, steps
        if file.pure and isinstance(self.own, Moments):
            self.shape: Shape | Around = Around(file, self.own, noise, len(steps), self.count)
            self.answers = unit(len(steps)), 0
            self.shape.reveals()
        elif file.law in SHAPED:
            self.shape = Shape(file, self.own, noise, len(steps), self.count)
            self.shape.reveals()  # first: how such noise strays may be undecided
        elif file.pure == WHOLE:
            self.lattice(file, noise, len(steps))
        elif file.pure:
            self.units = [x * F(s) ** 2 for x, s in each(self.spreads(file, noise, len(steps)), steps)]
        else:
            self.noise = self.own.noise(noise)
        turned_from = lifted and "about" in noise  # sums are about another point than what is answered
        found = self.strays(self.seen_from([*map(F, question["center"])]) if turned_from else self.answers)
        self.variances = [v / self.n**2 for v in found]
        if not grouped:
            self.coarse(max(size or 0, 1 << 14), F(1), file.law == "geometric" or file.pure == WHOLE)
        if file.first and file.pure and lifted and len(given) == len(found):
            undecided("means of a private number of rows under a pure budget, as 0.1 wrote them")
        self.weights = numbers(given, "terms.weights", len(found) - (lifted and file.law != "gaussian"), 2.0**-900)
        if lifted and file.pure:  # a mean's error is that of the sum about it: of the worst, as far as the bounds
            ends = self.own.ends()
            self.far = [(b - a) / 2 for a, b in ends]
            self.about = self.seen_from([(a + b) / 2 for a, b in ends])
            *self.worse, self.last = map(max, *(self.strays(self.seen_from(at)) for at in each(*ends)))
    def coarse(self, size: int, least: F, whole: bool = False) -> None:  # stop if the grid is, beside so many times the variances
        coarse(self.steps, self.own.rounding(), size, [v * least for v in self.strays(self.answers)], whole, self.answers)
    def seen_from(self, points: Any) -> Dyadic:  # the answers of sums about a point, and the count
        (off,), over = dyadic([[cut(F(v) - x, 1100, 0) for v, x in each(self.own.center, points)]])
        found = [[x << over for x in row] for row in self.answers[0]]
        for row, x in zip(found, off, strict=False):
            row[-1] += x << self.answers[1]
        return found, self.answers[1] + over
    def strays(self, answers: Dyadic) -> list[F]:  # the variances of answers
        if self.law in SHAPED:
            return self.shape.variances(answers, self.steps)
        if self.pure == WHOLE:
            wide, vectors, share = self.whole
            rows = [[F(x * s.numerator, s.denominator) / 2 ** answers[1] for x, s in each(row, map(F, self.steps))] for row in answers[0]]
            return [wide * (sum((dot(v, row) ** 2 for v in vectors), ZERO) - share * sum(row, ZERO) ** 2) for row in rows]
        if self.law == "gaussian":
            found: list[F] = self.noise.variances(answers, self.steps)
            return found
        return [dot([x * x for x in row], self.units) / 4 ** answers[1] for row in answers[0]]
    def lattice(self, file: File, noise: Any, r: int) -> None:  # whole noise of the shape of all changes, which say what kind it is
        scale = single(noise["scale"], "noise.scale", 2.0**-8)
        codes = self.own.codes() if self.own.kind == "points" and scale <= 8 else undecided("whole noise, but on lists, or of such a scale")
        least, steps = [min(x) * (not file.counted) for x in turned(codes)], 1 / scale
        cells = {tuple(x - y for x, y in each(row, least)) for row in codes}
        moved = [(*row, *[self.count] * self.own.lifted) for row in cells]
        some = {max(row, tuple(-x for x in row)) for row in moved if any(row)}
        self.scales = [scale]
        if not file.counted and len(cells) == r + 1 <= 512 and all(min(x) >= 0 and sum(x) <= 1 for x in cells):
            self.moved, self.whole = 2 * steps, (nothing(scale, r + 1), unit(r), F(1, r + 1))  # the numbers of all cells but one
        elif file.counted and len(some) == r and solved(some, [0] * r)[1]:
            self.moved, self.whole = steps, (file.spread(scale), [*map(list, some)], ZERO)  # those of independent records
        elif largest(moved) == 1 < r <= 12 and F(r, 1000) < steps <= 32 and not (file.counted and len(some) == r):
            low, high = (shells(F(1, 2), r, steps, up) for up in (0, 1))  # chances by max|z|: of a staircase of a cube, rounded
            file.law, file.apart = "staircase", 1 - shells(ZERO, r, steps, 0) / high
            self.moved, self.whole = steps, ((shells(F(1, 2), r + 2, steps, 1) / low - F(1, 4)) / 3, unit(r), ZERO)
        else:
            undecided("whole noise, but on cells, independent records that come and go, or yes and no")
        if len(cells) < len(codes):
            undecided("records that a list has twice")
    def spreads(self, file: File, noise: Any, r: int) -> list[F]:  # the variances of pure noise's numbers, in steps
        if self.law == "staircase":  # of the norm whose unit ball is all changes, a point of it times γ + i, of chances q^i·(γ + i)^k
            if self.own.kind != "lower":
                undecided("staircases, but of a box")
            box = self.own.codes()
            if file.counted and box[0] != [-x for x in box[1]]:
                undecided("staircases, but of a box about its middle")
            half = [b - a if not file.counted else b for a, b in each(*box)] + [self.count] * (r - len(box[0]))
            self.scales, k = [single(noise["scale"], "noise.scale", 2.0**-1000)], sum(x > 0 for x in half)
            step, first = (single(noise[name], f"noise.{name}", 2.0**-1000) for name in ("epsilon", "first"))
            if not 0 < k <= 16 or not F(k, 1000) < step <= 20 or first > 1:  # laws on two boxes differ by 1 − (1 − |s|/2r)^k at most
                undecided("staircases of so many dimensions or such steps")
            moved, low, high = 1 / self.scales[0], *(shells(first, k, step, up) for up in (0, 1))
            if "factor" in noise:  # of an interval, not all of which has to be a change
                ((wide,),) = unpacked(noise["factor"], "noise.factor", [1]) if r == 1 else undecided("a staircase of an ellipsoid")
                moved, half = moved * half[0] / abs(F(wide)), [abs(F(wide))]
            self.moved, square = step * math.ceil(moved), shells(first, k + 2, step, 1) / low
            file.apart = 1 - shells(first - moved / 2, k, step, 0) / high if moved <= 1 else F(1)
            return [self.scales[0] ** 2 * square * x * x / 3 for x in half]
        self.scales = [F(x) for x in numbers(noise["scales"], "noise.scales", r, 2.0**-1000)]
        return [file.spread(b) for b in self.scales]
    def covers(self, limit: F) -> bool:  # whether no μ² of a change is more
        return bool(self.own.covers(self.noise, self.count, limit))
    def moves(self) -> list[Counter[F]]:  # by how many scales each number is moved, for each change by one neighbour
        if self.law == "staircase" or self.pure == WHOLE:
            return [Counter([self.moved])]
        return [Counter(x / b for x, b in each(row, self.scales)) for row in self.own.moves(self.count)]
    def ranges(self) -> F:  # the square of the norm of how far one record moves each column, of those that come and go
        if isinstance(self.own, Moments):
            return ZERO  # none moves one moment alone
        ends = self.own.ends() if self.own.counted and len(self.own.pivots) == self.own.d else [(ZERO, ZERO)] * self.own.d
        far = [b - a if self.far else max(abs(a), abs(b)) for a, b in ends]
        squares = [(F(w) * x) ** 2 for w, x in each(self.weights, far)]
        return max(squares) if self.infinite else sum(squares, ZERO)
    def worst(self, weights: list[float]) -> F:  # at most what a unit of the count's error matters to the worst mean
        parts = [(F(w) * f) ** 2 for w, f in each(weights, self.far)]
        return root(max(parts) if self.infinite else sum(parts, ZERO), 0)
    def summed(self, weights: list[float]) -> F:  # the square of the deviations' norm, weighted
        squares = [F(w) ** 2 * v for w, v in zip(weights, self.worse if self.far else self.variances, strict=not self.far)]
        return max(squares) if self.infinite else sum(squares, ZERO)
    def bounds(self, evidence: Any) -> list[F]:  # what is, and what is proved at μ = 1, weighted and not, by squares
        found: list[F] = [self.summed(self.weights)]
        if evidence is None and self.law != "gaussian":  # where other proofs are made than from weights
            return [*found, ZERO, self.ranges()]
        for plain, given in (("", self.weights), ("plain_", [1.0] * len(self.weights))):
            if plain and (self.plain or self.law != "gaussian"):  # of pure noise also by each column's own records
                return [*found, max(found[1], self.ranges() if self.law != "gaussian" else ZERO)]
            if isinstance(self.own, Moments):
                weights = given
                if self.far:  # sums about the middle of each moment's range, and what the count matters to the worst mean
                    ends, most = self.own.ends(), self.worst(given)
                    self.own.away, weights = [ends[p][1] / 2 for p in self.own.squares], [*given, float(cut(most, 60 - math.frexp(float(most))[1], 0)) * (1 - 2**-50)]
                found.append(self.own.proved(evidence, plain, weights, self.infinite) / self.n**2)
                continue
            (scale,), places = dyadic([[*given, *(self.worst(given) for _ in self.far[:1])]])
            given_rows, over = self.about if self.far else self.answers
            rows = [[x * w for x in row] for row, w in each(given_rows, scale)], over + places
            moved, mass = self.own.moment(evidence, plain)
            found.append(proved(rows, evidence[f"{plain}query_weights"], moved, mass, self.infinite) / self.n**2)
        return found
    def ways(self, file: File, square: F) -> list[tuple[str, Any]]:  # of a public size: how pure noise is bounded, and whose
        far = [F(w) * (b - a) / self.n for w, (a, b) in each(self.weights, self.own.ends())]
        top, length, d, size = max(far), root(sum((x * x for x in far), ZERO), 1), len(far), file.terms["size"]
        box, k, evidence = self.own.kind == "lower", len(self.own.pivots), file.terms["evidence"] or {}
        evidence = {} if isinstance(self.own, Moments) else evidence  # of means over all flips, or turns
        even = box or (self.own.kind == "image" and not self.own.cube and not self.own.dense)
        corners = box and not {"vertices", "squares", "points", "means"} & {*evidence}
        chosen, most = evidence.get("vertices", evidence.get("points", [])), k * (k + 1) // 2 + 1  # by Carathéodory's theorem
        listed, many = 0 if isinstance(self.own, Moments) else self.own.listed_points or len(chosen), orthogonal(sum(map(bool, far)) or 1)  # a Hadamard matrix of corners, or of a ball's signs
        if not corners and not (even and "squares" in evidence):
            many = min(listed * (listed - 1) // 2 if evidence.get("measure") == "product" else listed or most, most)
        near = 1 + F(isinstance(self.own, Moments), 1 << 40)  # whose ends are those of the lesser half widths
        given = [(root(square, 0), many, near * (top if self.infinite else length), near * length), (top, 1, near * top, near * top)]
        fits, ball = even and min(far) > 0 and (d == 1 or not self.infinite), F(d, d + 2) * min(far) ** 2
        epsilon, delta = granted(file.terms["budget"]) if self.law == "radial" else (file.epsilon, ZERO)
        def added(bound: F) -> bool:
            if not fits or not delta:
                return bool(fits) and staircase(epsilon, d, bound**2 / ball)
            proof = evidence.get("additive", {})
            return bool(d == proof.get("dimension") == 1 and bound**2 <= on_line(epsilon, delta, proof) * min(far) ** 2)
        return [("mechanism", lambda bound: any(bound <= among(epsilon, size, *own, delta) for own in given)), ("noise that is added", added)]
def one_mean(given: Any) -> Any:  # the question of a mean within another
    one_of(given["kind"], "question.mean.kind", "mean")
    return given
def listed(question: Any, noise: Any) -> tuple[Any, Any]:  # linear queries as totals of what each record adds
    universe, (m, n) = question["universe"], wholes(question["matrix"]["shape"], "question.matrix", 2, below=1 << 22)
    if "records" in universe:
        many = len(fields(universe, "universe", "columns records outside")["records"])
        drops = universe["outside"] is None
    else:
        given = [fields(x, "attribute", "name categories outside")
                 for x in fields(universe, "universe", "attributes")["attributes"]]
        drops, many = any(x["outside"] is None for x in given), math.prod(categories(given))
    if many != n or m > WIDEST:
        false("question.matrix has not a column for each record") if many != n else undecided("too many queries")
    if n * n * (m + 30) > 16 * WORK:
        undecided("too many records")
    points = turned(unpacked(question["matrix"], "question.matrix", [m, n]))
    noise = {"count_step": None} | noise
    if type(noise.get("embed")) is dict:
        noise["embed"] = unpacked(noise["embed"], "noise.embed", [m, len(noise["pivots"])])
    return {"columns": [None] * m, "points": points, "center": points[0], "drops_missing": drops}, noise
def check_values(file: File) -> None:  # a plan or a release of means, of totals, or of linear queries
    question, noise, kind = file.terms["question"], file.terms["noise"], file.terms["question"]["kind"]
    if kind == "sum":
        question = one_mean(fields(question, "question", "kind mean")["mean"])
    elif kind == "queries":
        question, noise = listed(fields(question, "question", "kind matrix universe"), noise)
    if file.pure.endswith("histogram"):
        undecided("noise on counts of every record")
    own = Values(file, question, noise, kind != "mean")
    if not file.pure:
        file.say("no change by one neighbour has more than μ", own.covers(file.limit))
    elif file.law not in SHAPED:
        file.reveals(own.moves())
    weights = own.weights if file.pure else [1.0] * len(own.weights)
    file.told(file.derived["standard_deviation"], own.variances, own.summed(weights))
    found = own.bounds(file.terms["evidence"])
    file.bounds(found[0], found[1], found[2], *(own.ways(file, found[2]) if file.pure and not file.counted else ()))

# -- marginals: independent noise of one variance on each residual space; an orbit is the types of a set's attributes
def added(terms: Any) -> Any:  # the sum of the numbers of each orbit
    found = Counter[Orbit]()
    for own, x in terms:
        found[own] += x
    return found
def exchanged(sizes: list[tuple[int, int]], weight: dict[frozenset[int], float]) -> list[int]:
    kinds, first = list[int](), list[int]()  # the type of each attribute: one where an exchange changes no weighted set
    for i, n in enumerate(sizes):
        fits = (k for k, j in enumerate(first) if sizes[j] == n and all(
            weight.get(frozenset({i: j, j: i}.get(x, x) for x in own)) == w
            for own, w in weight.items() if (i in own) != (j in own)))
        kinds.append(next(fits, len(first)))
        first += [i] * (kinds[-1] == len(first))
    return kinds
def categories(given: Any) -> list[int]:  # how many each attribute has, with one for all others
    listed = [own["categories"] for own in given]
    counts = [x if type(x) is int else len(x["edges"]) - 1 if type(x) is dict else len(x) for x in listed]
    return list(wholes([n + (own["outside"] == n) for n, own in each(counts, given)], "categories", below=1 << 60))
class Tables:  # what is asked of a table: weighted orbits of marginals, and the orbits of residual spaces
    def __init__(self, question: Any) -> None:
        given = [fields(own, "attribute", "name categories outside ordered") for own in question["attributes"]]
        if len(given) > 1000:
            undecided("question: more than 1000 attributes are not decided here")
        sizes = categories(given)
        orders = [one_of(own["ordered"], "ordered", "prefix range") if own.get("ordered") else "" for own in given]
        alike = [(n, i if own else -1) for i, (n, own) in enumerate(each(sizes, orders))]  # ordered, like no other
        self.dropping, weights = any(own["outside"] is None for own in given), question["weights"]
        if "way" in question:
            way, types = wholes([question["way"]], "way", below=len(sizes) + 1)[0], sorted(set(alike), key=alike.index)
            many, own = math.comb(len(types) + way, way) * 2**way, numbers(weights, "question.weights", way + 1, 0.0)
            kinds = [types.index(n) for n in alike] if many <= MANY else undecided("too many kinds of marginals")
            rows = [(row, w) for n, w in enumerate(own) for row in combinations_with_replacement(range(len(types)), n)]
        else:
            sets = [frozenset(wholes(own, "question.sets", below=len(sizes))) for own in question["sets"]]
            weight = dict(each(sets, numbers(weights, "question.weights", len(sets), 0.0)))
            many = max(sum(2 ** min(len(own), 40) for own in sets), len(sizes) ** 2 * len(sets) // 16)
            kinds = exchanged(alike, weight) if many <= MANY else undecided("question.sets are too many, or too large")
            rows = [(tuple(sorted(kinds[i] for i in own)), w) for own, w in weight.items()]
        self.kinds, self.members, self.sizes = kinds, Counter(kinds), dict(each(kinds, sizes))
        self.names, self.question = [own["name"] for own in given], question
        self.asked = {row: F(w) for row, w in rows if self.copies(row)}
        if "way" not in question and (sum(map(self.copies, self.asked)) != len(sets) or any(
                len(set(own)) < len(own) for own in question["sets"])):
            false("question.sets has one twice, or exchanges that change it")
        self.axes = {k: (n, own) for k, n, own in each(kinds, sizes, orders) if own and n > 1}
        self.rows = {own: self.parts(tuple(k for k in own if k not in self.axes)) for own in self.asked}
        self.spaces = sorted({own for row in self.rows.values() for own in row}, key=lambda own: (len(own), own))
    def copies(self, own: Orbit) -> int:  # how many sets of attributes an orbit has
        return math.prod(math.comb(self.members[k], c) for k, c in Counter(own).items())
    def parts(self, own: Orbit) -> dict[Orbit, F]:  # what variance on each residual space adds to that of a cell
        found: dict[Orbit, F] = {(): F(1)}
        for k, c in sorted(Counter(own).items()):
            n = self.sizes[k]
            found = {(*inside, *([k] * j)): x * math.comb(c, j) * F(n - 1, n) ** j / n ** (2 * (c - j))
                     for inside, x in found.items() for j in range(c + 1) if not j or n > 1}
        return found
    def agreeing(self, own: Orbit, differ: Any) -> F:  # Σ over sets of Π (1 − 1/n where records agree, else −1/n)
        found = F(1)
        for k, c in Counter(own).items():
            m, n, d = self.members[k], self.sizes[k], differ[k]
            found *= F(sum(math.comb(d, j) * (-1) ** j * math.comb(m - d, c - j) * (n - 1) ** (c - j)
                           for j in range(c + 1)), n**c)
        return found
    def least(self, rates: dict[Orbit, F]) -> F:  # at most Σ rate·agreeing for every pattern of types that differ
        kinds = sorted(self.members)
        if math.prod(self.members[k] + 1 for k in kinds) > MANY:
            undecided("question: too many patterns of attributes in which two records differ")
        def lowest(at: int, terms: dict[Orbit, int]) -> int:  # type by type
            if at == len(kinds):
                return terms[()]
            split = [(own[(c := own.count(kinds[at])) :], c, x) for own, x in terms.items()]
            return min(lowest(at + 1, added((rest, x * row[c] >> 200) for rest, c, x in split)) for row in values[at])
        most = {k: 1 + max(own.count(k) for own in rates) for k in kinds}
        values = [[[math.floor(self.agreeing((k,) * c, {k: d}) * 2**200) for c in range(most[k])]
                   for d in range(self.members[k] + 1)] for k in kinds]
        return F(lowest(0, {own: math.floor(rate * 2**200) for own, rate in rates.items()}) - 2**60, 2**200)
    def margins(self) -> Any:  # each set that is asked for, by its attributes
        if "sets" in self.question:
            return self.question["sets"]
        few = sum(map(self.copies, self.asked)) <= MANY // 16 or undecided("too many groups")
        return [own for n in range(self.question["way"] + few) for own in combinations(range(len(self.kinds)), n)]
    def read(self, given: Any, infinite: bool, counted: bool) -> None:  # the variance of each residual space
        self.infinite, self.counted, self.variances = infinite, counted, dict(each(self.spaces, given))
        self.rates = {space: 1 / self.variances[space] for space in self.spaces if counted or space}
        self.whole = sum((cut(self.agreeing(own, Counter()) * x, 300, 1) for own, x in self.rates.items()), ZERO)
        self.cells = {row: math.prod(self.sizes[k] for k in row) * self.copies(row) for row in self.asked}
        self.seen = {row: sum((cut(x * self.variances[space], 400, 1) for space, x in parts.items()), ZERO)
                     for row, parts in self.rows.items()}
        weighted = {row: self.asked[row] * v for row, v in self.seen.items()}
        self.summed = (max(weighted.values()) if infinite else  # the square of the deviations' norm, weighted
                       sum((weighted[row] * n for row, n in self.cells.items()), ZERO))
    def both(self, exact: Any, own: Any, weights: list[float]) -> F:  # the same of values beside counts that are known
        squares: list[F] = [F(w) ** 2 * v for w, v in each(weights, own.variances)]
        *sums, count = squares
        rest: list[F] = [self.asked[row] * v * (1 if self.infinite else self.cells[row]) for row, v in exact.items()]
        of_sums: F = self.summed * (max(sums) if self.infinite else sum(sums, ZERO))
        return max(of_sums, max(rest) * count) if self.infinite else of_sums + sum(rest, ZERO) * count
    def proved(self, evidence: Any) -> F:  # at most the least such square at μ = 1
        none, rows = Counter[int](), fields(evidence, "evidence", "cells patterns chances")
        c = dict(each(self.asked, map(F, numbers(rows["cells"], "evidence.cells", -1, 0.0))))
        asked = added((own, x * c[row] * self.asked[row] * self.cells[row])
                      for row in c for own, x in self.rows[row].items())
        chances = [F(x) for x in numbers(rows["chances"], "evidence.chances", -1, 0.0)]
        patterns = [wholes(row, "evidence.patterns", len(self.members), below=1001) for row in rows["patterns"]]
        moved = ZERO
        for space in self.rates:
            full = self.agreeing(space, none)
            parts = ZERO if self.counted else sum(
                (2 * w * (full - self.agreeing(space, row)) for w, row in each(chances, patterns)), ZERO) / sum(chances)
            moved += root(cut(asked[space] * (full if self.counted else parts), 400, 0), 0)
        size = sum((n * c[row] for row, n in self.cells.items()), ZERO) if self.infinite else max(c.values())
        return moved**2 / size
def coarse(steps: list[float], off: list[F], size: int, squares: list[F], whole: bool, rows: Dyadic = ([], 0)) -> None:
    # stop unless grids are so fine beside answers of these variances, rows of what is summed, that their errors are those of noise
    # alone: 2^16 steps a deviation, or whole noise, where each record is off by such a part of a step; of a count by none
    far = [max(x * size * 128, F((not whole) << 16)) * F(s) for s, x in each(steps, off + [ZERO] * (len(steps) - len(off)))]
    moved = [dot(map(abs, row), far) / 2 ** rows[1] for row in rows[0]] or far
    if any(x * x > v > 0 for x, v in each(moved, squares)):
        false("noise.step is coarse beside the noise, so that errors are more than is stated")
def fine(steps: Any, given: Any) -> None:  # stop unless grids are fine beside the least noise on each, or the finest of counts
    if any(s > 1 or math.frexp(s)[0] != 0.5 or (s > 2.0**-22 and s * 2**16 > x > 0) for s, x in each(steps, given)):
        false("noise.steps are no powers of two that are fine beside the noise")
class Ordered:  # tables with ordered attributes, and their noise: a matrix L_A on each residual space A of the others
    # along them stand products of corners, of 1 or whether the category is one that is not the last: a record in x that
    # becomes one in y sees Σ_A ½(p + a)·|L_A⁻¹(s_x − s_y)|² + ½(p − a)·|L_A⁻¹(s_x + s_y)|², and one that comes or goes
    # Σ_A p·|L_A⁻¹s_x|², with p = Π (1 − 1/n) over A, and a likewise with −1/n where the two differ
    def __init__(self, tables: Tables, noise: Any, counted: bool) -> None:
        self.tables, self.counted, self.kinds = tables, counted, sorted(tables.axes)
        axes = [tables.axes[k] for k in self.kinds]
        if "factors" not in noise or math.prod(n for n, _ in axes) > WIDEST:
            undecided(f"ordered attributes of over {WIDEST} categories together, or noise that is a product along them")
        self.cells: Any = [*product(*(range(n) for n, _ in axes))]
        self.spans = {row: [k in row for k in self.kinds] for row in tables.asked}
        found = {space: [c for c in self.cells if self.seen(c, space)] for space in tables.spaces}
        self.places = {space: place for space, place in found.items() if place}
        self.laws = dict[Orbit, Noise]()
        for (space, place), given in each(self.places.items(), fields(noise, "noise", "factors steps")["factors"]):
            flat = iter(numbers(given, "noise.factors", len(place) * (len(place) + 1) // 2))
            rows = [[next(flat) if j <= i else 0.0 for j in range(len(place))] for i in range(len(place))]
            self.laws[space] = Noise({"kind": "dense", "factor": rows}, len(place))
        fine(noise["steps"], [min(abs(F(row[i], 1 << law.over)) for i, row in enumerate(law.factor))
                              for law in self.laws.values()])
        self.records = {space: [[int(all(c in (0, x + 1) for c, x in each(corner, cell))) for corner in place]
                                for cell in self.cells] for space, place in self.places.items()}
        self.part = {space: tables.agreeing(space, Counter()) for space in self.places}
        self.free = [k for k in sorted(tables.members) if k not in tables.axes]
        cuts = [[[int(a <= j <= b) for j in range(n)] for a in range(n if order == "range" else 1) for b in range(a, n)]
                for n, order in axes]  # which cells each answer adds up
        self.corners = [[[row[-1], *(x - row[-1] for x in row[:-1])] for row in rows] for rows in cuts]
        self.asked = {(row, space): self.answers(row, space) for row, parts in tables.rows.items()
                      for space in parts if space in self.places}
        self.copies = {row: math.prod(tables.sizes[k] for k in row if k not in tables.axes) * tables.copies(row)
                       for row in tables.asked}
    def seen(self, corner: Any, space: Orbit) -> bool:  # whether a marginal sees it, and records move in it
        moves, rows = self.counted or space or any(corner), self.tables.rows
        return bool(moves) and any(space in rows[row] and all(inside or not c for c, inside in each(corner, span))
                                   for row, span in self.spans.items())
    def answers(self, row: Orbit, space: Orbit) -> Rows:  # that a marginal asks for, by the corners of a residual space
        ways = product(*(rows if inside else [[1]] for rows, inside in each(self.corners, self.spans[row])))
        return [[math.prod(x[c] if c < len(x) else 0 for x, c in each(way, corner)) for corner in self.places[space]]
                for way in ways]
    def covers(self, limit: F) -> bool:  # whether no μ² of a change is more
        counts = range(len(self.cells))
        seen = {space: times(rows, turned(self.laws[space].turn())) for space, rows in self.records.items()}
        forms = {space: [[dot(x, y) for y in rows[: i + 1]] for i, x in enumerate(rows)]
                 for space, rows in seen.items()}
        most, members = limit / (1 + F(1, 1 << 60)) * 4**BITS, self.tables.members
        if self.counted:
            return all(sum((p * forms[a][x][x] for a, p in self.part.items()), ZERO) <= most for x in counts)
        if math.prod(members[k] + 1 for k in self.free) * len(counts) ** 2 * len(forms) > MANY:
            undecided("too many patterns of attributes in which two records differ")
        for row in product(*(range(members[k] + 1) for k in self.free)):
            agreed = {space: self.tables.agreeing(space, Counter(dict(each(self.free, row)))) for space in forms}
            one = math.lcm(*(x.denominator for x in (*self.part.values(), *agreed.values())))
            ways = [(int(self.part[a] * one), int(2 * agreed[a] * one), form) for a, form in forms.items()]
            if any(sum(p * (form[x][x] + form[y][y]) - a * form[x][y] for p, a, form in ways) > most * one
                   for x in counts for y in range(x + 1)):
                return False
        return True
    def variances(self) -> dict[Orbit, list[F]]:  # of the answers of each orbit of marginals
        found = {row: [ZERO] * math.prod(len(x) for x, inside in each(self.corners, span) if inside)
                 for row, span in self.spans.items()}
        for (row, space), rows in self.asked.items():
            own = self.laws[space].variances((rows, 0), [1.0] * len(self.places[space]))
            found[row] = [v + cut(self.tables.rows[row][space] * x, 400, 1) for v, x in each(found[row], own)]
        return found
    def proved(self, evidence: Any, lengths: list[int], infinite: bool) -> F:  # at most the least square at μ = 1
        members, given = self.tables.members, fields(evidence, "evidence", "cells patterns pairs chances")
        listed = [numbers(row, "evidence.cells", n, 0.0) for row, n in each(given["cells"], lengths)]
        flat = iter(rounded([x for row in listed for x in row]))
        c = {row: [next(flat) for _ in range(n)] for row, n in each(self.copies, lengths)}
        pairs = [wholes(row, "evidence.pairs", 2, below=len(self.cells)) for row in given["pairs"]]
        ways = [wholes(row, "evidence.patterns", len(members), below=1001) for row in given["patterns"]]
        if any(n > members[k] * (k in self.free) for row in ways for k, n in enumerate(row)):
            false("evidence.patterns are of other attributes")
        full, counts = [members[k] * (k in self.free) for k in sorted(members)], range(len(self.cells))
        moves = [*each(pairs, ways), *(([x, 0], [0] * len(full)) for x in counts), *(([x, x], full) for x in counts)]
        w, total = rounded(numbers(given["chances"], "evidence.chances", len(pairs), 0.0)) + [1] * 2 * len(counts), ZERO
        for space in self.places:
            rows, weights = list[list[int]](), list[int]()
            for row, weight in self.tables.asked.items():
                f = weight * self.copies[row] * self.tables.rows[row].get(space, 0) * 2**80
                rows += self.asked.get((row, space), []) if f else []
                weights += [math.floor(f * x) for x in c[row]] if f else []
            p, moved, often = self.part[space], list[list[int]](), list[F]()
            for ((x, y), way), f in each(moves, w):
                s, t = self.records[space][x], self.records[space][y]
                a = self.tables.agreeing(space, dict(enumerate(way)))
                both = [[x - y for x, y in each(s, t)], [x + y for x, y in each(s, t)]]
                moved += [s] if self.counted else both
                often += [f * p] if self.counted else [f * (p + a) / 2, f * (p - a) / 2]
            total += paired((gram(rows, weights), 80), (gram(moved, [math.floor(x * 2**80) for x in often]), 80))
        size = sum(self.copies[row] * sum(x) for row, x in c.items()) if infinite else max(map(max, c.values()))
        return total**2 / (size * sum(w))
def cells_of(given: Any, d: int) -> Any:  # the attributes of tables whose cells have noise
    found = [wholes(fields(own, "noise.tables", "cells signs")["cells"], "noise.tables", below=d) for own in given]
    cost = sum(2 ** min(len(x), 40) if len({*x}) == len(x) and own["signs"] == [] else MANY for x, own in each(found, given))
    return found if cost <= MANY // 16 else undecided("noise on residual spaces, or on an attribute twice, or on so many")
def nothing(scale: F, n: int) -> F:  # the variance of one of n whole geometric numbers that add up to nothing, n/(n − 1) times
    q, b = exp(-1 / scale, 1), math.ceil(scale)
    far, part = 45 * b + 14 * math.isqrt(2 * n * b * b + n) + 14, math.floor(q * 2**BITS)
    law = [(k == far) << 2 * BITS for k in range(2 * far + 1)]  # of sums, up to a factor
    for _ in range(n - 1):  # all that is added is at least 0
        up, down = ([*accumulate(row, lambda y, x: x + (y * part >> BITS))] for row in (law, law[::-1]))
        law = [x + y - z for x, y, z in zip(up, down[::-1], law, strict=True)]
    one = [*accumulate(repeat(part, far), lambda y, x: y * x >> BITS, initial=1 << BITS)]
    half = [x * y for x, y in each(one, law[far:])]
    return F(2 * sum(z * z * x for z, x in enumerate(half)) * n, (2 * sum(half) - half[0]) * (n - 1))
def of_table(own: Tables, noise: Any) -> Any:  # the one of all attributes that are asked for, and the scale in its cells
    fields(noise, "noise", "scale step")
    row, step = tuple(sorted(own.kinds[i] for i in {i for x in own.margins() for i in x})), single(noise["step"], "noise.step")
    scale = single(noise["scale"], "noise.scale", 2.0**-8)
    if len(row) > 18 or not 2 <= math.prod(own.sizes[k] for k in row) <= 512 or scale > 8 or step != 1:
        undecided(f"mechanism={WHOLE!r} on so few cells, or so many, of such a scale, or in steps other than 1")
    return [row], [scale], [1.0]
def given_tables(own: Tables, noise: Any) -> Any:  # which have noise, of which scales and steps
    fields(noise, "noise", "tables scales steps")
    rows = [tuple(sorted(own.kinds[i] for i in cells)) for cells in cells_of(noise["tables"], len(own.kinds))]
    scales = [F(x) for x in numbers(noise["scales"], "noise.scales", len(rows), 2.0**-1000)]
    steps = numbers(noise["steps"], "noise.steps", len(rows), 2.0**-1000)
    if len({*rows}) < len(rows) or any(s > 1 or math.frexp(s)[0] != 0.5 for s in steps):
        false("noise.tables has one twice, or noise.steps are no powers of two")
    return rows, scales, steps
def check_cells(file: File, own: Tables) -> None:  # numbers in the cells of some tables, independent or but for what they add up to
    noise, whole = file.terms["noise"], file.pure == WHOLE and not file.counted
    if own.axes or file.law not in ("laplace", "geometric") or ("tables" not in noise and not whole):
        undecided("ordered attributes under a pure budget, or noise that is not on cells of tables")
    rows, scales, steps = of_table(own, noise) if whole else given_tables(own, noise)
    if file.law == "laplace":
        fine(steps, [*map(float, scales)])
    moved = Counter[F]()  # where all attributes differ; a table of one cell has the public number of records
    for row, b in each(rows, scales):
        cells = 1 if file.counted else 2 * (math.prod(own.sizes[k] for k in row) > 1)
        moved[1 / b] += cells * own.copies(row)
    file.reveals([Counter([2 / scales[0]]) if whole else moved])  # of whole numbers one record moves two cells at once
    found = dict[Orbit, F]()  # of each residual space, of which all tables that hold it tell: their precisions add up
    for row, b, s in each(rows, scales, steps):
        n = math.prod(own.sizes[k] for k in row)
        unit = nothing(b, n) if whole else file.spread(b / F(s)) * F(s) ** 2
        for space in {tuple(sorted(x)) for n in range(len(row) + 1) for x in combinations(row, n)}:
            more, own_k = Counter(row), Counter(space)
            many = math.prod(math.comb(own.members[k] - own_k[k], more[k] - own_k[k]) for k in more)
            rest = math.prod(own.sizes[k] ** (more[k] - own_k[k]) for k in more)
            found[space] = found.get(space, ZERO) + F(many, rest) / unit
    if any(space not in found for space in own.spaces if space or file.counted):
        false("noise.tables do not tell what is asked for")
    own.read([1 / found[x] if x or file.counted else ZERO for x in own.spaces], file.infinite, file.counted)
    told = file.derived["marginals"]
    file.told([x["standard_deviation"] for x, row in each(told, own.seen) if x["count"] == own.copies(row)],
              [*own.seen.values()], own.summed)
    square = own.proved(file.terms["evidence"])
    file.bounds(own.summed, square, square)
def check_ordered(file: File, tables: Tables) -> None:  # counts along attributes that are ordered
    own = Ordered(tables, file.terms["noise"], file.counted)
    file.say("no change by one neighbour has more than μ", own.covers(file.limit))
    found, told, weights = own.variances(), file.derived["marginals"], tables.asked
    square = (max(weights[row] * max(x) for row, x in found.items()) if file.infinite else
              sum((weights[row] * own.copies[row] * sum(x, ZERO) for row, x in found.items()), ZERO))
    stated = [x["standard_deviation"] for x, row in each(told, found) if x["count"] == tables.copies(row)]
    file.told(stated, [cut(sum(x, ZERO) / len(x), 400, 1) for x in found.values()], square)
    least = own.proved(file.terms["evidence"], [*map(len, found.values())], file.infinite)
    file.bounds(square, least, least)
def check_marginals(file: File) -> None:  # a plan or a release of marginals
    terms, told, n, counted = file.terms, file.derived["marginals"], file.terms["size"], file.counted
    own = Tables(fields(terms["question"], "question", "kind attributes weights way sets"))
    if n is not None if counted else own.dropping or type(n) is not int or n < 1:
        false("size and what becomes of rows outside the categories do not fit the relation")
    if own.axes or file.pure:
        (check_cells if file.pure else check_ordered)(file, own)
        return
    given, steps = (numbers(terms["noise"][k], f"noise.{k}", len(own.spaces), 0.0) for k in ("deviations", "steps"))
    fine(steps, given)
    own.read([F(x) ** 2 for x in given], file.infinite, counted)
    holds = own.whole <= file.limit if counted else not own.rates or own.whole - own.least(own.rates) <= file.limit / 2
    file.say("no change by one neighbour has more than μ", holds)
    stated = [x["standard_deviation"] for x, row in each(told, own.seen) if x["count"] == own.copies(row)]
    file.told(stated, [*own.seen.values()], own.summed)
    square = own.proved(terms["evidence"])
    file.bounds(own.summed, square, square)
def shows(run: Any) -> bool:  # whether something is so, where there is another proof if it is not
    try:
        return bool(run())
    except StopError as stop:
        return False if stop.args[0] == FALSE else undecided(stop.args[1])
def check_groups(file: File) -> None:  # of means or totals in groups: a table of counts, with a vector for the number 1
    terms, question = file.terms, fields(file.terms["question"], "question", "kind mean total groups")
    totals = question["kind"] == "sum_by_groups"
    if totals and not file.counted:
        undecided("totals by groups of a public number of records")
    noise = fields(terms["noise"], "noise", "values deviations" + " diameter" * (not file.counted))
    evidence = fields(terms["evidence"], "evidence", "values tables" + " apart" * (not file.counted))
    mean = one_mean(of_kind(question["total"], "question.total", "sum", "mean")["mean"] if totals else question["mean"])
    groups = Tables(of_kind(question["groups"], "question.groups", "marginals", "attributes weights way sets"))
    own = Values(file, mean, noise["values"], totals, grouped=True)
    given = numbers(noise["deviations"], "noise.deviations", len(groups.spaces), 0.0)
    groups.read([F(x) ** 2 for x in given], file.infinite, True)  # sums of all rows have noise, if their count has none
    least = min(v for v in groups.seen.values())
    own.coarse(max(terms["size"] or 0, 1 << 14), least)
    if file.counted:
        holds = own.covers(file.limit / groups.whole)
    elif groups.dropping:
        false("rows outside the categories would change the size, which is public")
    else:  # a record changes within a group, by D at most, or goes to another: by two proofs each of `docs/theory.md`
        h, other = groups.whole, 2 * (groups.whole - groups.least(groups.rates))
        far, moved = file.limit / h, file.limit / max(2 * h, other)
        if "diameter" in noise:  # D, and what is left beside it where records change their groups
            far = single(noise["diameter"], "noise.diameter") ** 2
            moved = max(file.limit - max(h - other / 2, ZERO) * far, ZERO) / other
        apart = records(mean, noise["values"], "kind drops_missing", False, True)  # two of a group: counts stay
        holds = h * far <= file.limit and own.covers(moved) and (
            shows(partial(own.covers, far / 4 + 1 / own.variances[-1])) or apart.covers(own.noise, 0, far))
    file.say("no change by one neighbour has more than μ", holds)
    margins, told = groups.margins(), file.derived["groups"]
    if any(x["by"] != [groups.names[i] for i in row] for x, row in each(told, margins)):
        false("derived.groups are not those that are asked for")
    orbits = [tuple(sorted(groups.kinds[i] for i in row)) for row in margins]
    stated, ones = [y for x in told for y in x["standard_deviation"]], [1.0] * len(own.weights)
    if not file.counted:  # how many rows there are is known: its noise is in none of the counts
        exact = Counter({row: groups.seen[row] - groups.rows[row][()] * groups.variances[()] for row in groups.seen})
        file.told(stated, [(x[row] * v) for row in orbits for x, v in each(
            [groups.seen] * (len(ones) - 1) + [exact], own.variances)], groups.both(exact, own, ones))
        upper, square = single(file.derived["certificate"]["upper"], "upper"), groups.both(exact, own, own.weights)
        file.say(f"upper = {float(upper):.12g} is at least what the deviations amount to", upper**2 >= square)
        file.found.append((OPEN, "lower, and lower_bound, of groups of a public number of records"))
        return
    squares = [groups.seen[row] * v for row in orbits for v in own.variances]
    file.told(stated, squares, groups.summed * own.summed(ones))
    square = groups.proved(evidence["tables"])
    (here, least, plain) = own.bounds(evidence["values"])
    file.bounds(groups.summed * here, square * least, square * plain)

# -- streams of running sums: W = B·C, noise B·ξ, one person in one round
def convolved(a: list[int], b: list[int]) -> list[int]:  # as many coefficients of two series' product, as one number
    size = (largest([a]) + 1) * (largest([b]) + 1) * len(a)
    width = size.bit_length() // 8 + 1  # bytes, of a coefficient and `middle`, less than twice `middle`
    middle, whole = 1 << (8 * width - 1), 1 << (8 * width * len(a))
    shift = whole // ((1 << (8 * width)) - 1) * middle  # `middle` in each place
    packed = (b"".join((own + middle).to_bytes(width, "little") for own in row) for row in (a, b))
    x, y = (int.from_bytes(own, "little") - shift for own in packed)
    raw = ((x * y + shift) % whole).to_bytes(width * len(a), "little")
    return [int.from_bytes(raw[i : i + width], "little") - middle for i in range(0, len(raw), width)]
def growth(n: int) -> F:  # nu/(1 − nu), by which n roundings of floats may be off
    return F(n, (1 << 53) - n)
class Factors:  # B and C of n rounds: squared lengths, and at least the longest column of W − B·C; `size` and `error`
    # are how long and how far off the program's B·z in floats can be, by its error analysis, which is believed here
    def __init__(self, pair: Any, n: int) -> None:
        dense = one_of(pair["kind"], "pair.kind", "dense toeplitz") == "dense"
        if n > (WIDEST if dense else 1 << 17):
            undecided(f"pair: {n} rounds; up to {WIDEST} of dense factors, and 2^17 of Toeplitz ones, are decided here")
        fields(pair, "pair", "kind noise strategy")
        rows = [unpacked(pair.get(k, pair["noise"]), k, [n, n] if dense else [n]) for k in ("noise", "strategy")]
        ((B, b), (C, c)), lost = map(dyadic, rows), growth(n + 2)
        self.column = F(max(dot(x, x) for x in (turned(C) if dense else C)), 4**c)
        if dense:
            if any(x for own in (B, C) for i, row in enumerate(own) for x in row[i + 1 :]):
                undecided("pair: factors that are not lower triangles are not decided here")
            self.rows = [F(dot(x, x), 4**b) for x in B]
            left = less([[(i >= j) << (b + c) for j in range(n)] for i in range(n)], times(B, C))
            self.residual = root(F(max(dot(x, x) for x in turned(left)), 4 ** (b + c)), 1)
            self.size = 7 * root(F(sum(sum(map(abs, row)) ** 2 for row in B), 4**b), 1)
        else:  # by first columns, and ‖δ∗y‖₂ ≤ ‖δ‖₁·‖y‖₂ of what is cut off beyond 2^-64
            (x,), (y,) = (B, C) if max(b, c) <= 400 else undecided("pair: numbers so near 0")
            self.rows = [F(own, 4**b) for own in accumulate(map(mul, x, x))]
            near = [[shifted(own, 64 - p) for own in row] for row, p in ((x, b), (y, c))]
            off = sum((2**128 - own) ** 2 for own in convolved(*near))
            both = 2 + sum((root(F(dot(row, row)), 1) for row in near), ZERO) / 2**64
            self.residual = root(F(off, 1 << 256), 1) + F(n, 1 << 64) * both
            self.size = 7 * F(sum(map(abs, x)), 1 << b) * root(F(n), 1)
            levels = [32 << (4 * k) for k in range(9) if not k or (32 << (4 * k)) < n] if n > 32 else []
            lost = growth(34) + growth(max(len(levels), 1) + 2)
            for own in levels:  # transforms of 2^k numbers: (k + 4) layers of 8 roundings; three of them a product
                layers = F((2 * own).bit_length() + 3, 1 << 50)
                lost += 2 * ((3 + F(1, 1 << 20)) * layers / (1 - layers) + growth(40))
        self.error = (lost + F(1, 7 << 46)) * self.size
def trace_norm(n: int) -> F:  # at most ‖W‖_* = Σ 1/(2·sin((2j − 1)π/(4n + 2))) of running sums; sines by their series
    found, one, half = 0, 1 << 160, math.ceil(PI * 2**160) + 1
    for j in range(n):
        x = term = sine = half * (2 * j + 1) // (4 * n + 2) + 1
        for k in range(2, 20, 2):
            term = term * (x * x // one + 1) // (one * k * (k + 1))
            sine += -term if k % 4 else term
        found += one * one // (2 * (sine + 50))
    return F(found, one)
def of_tree(n: int, arities: list[int], levels: list[F], fitted: bool) -> list[F]:  # the variances of running sums of n rounds
    # on a tree of sums, from those of the noise of its levels: of the fewest sums that make one up, or by least squares of all.
    # There a sum's children are told by themselves, of variances v, and by it: what it says besides is theirs as v is to V = Σv,
    # and what they are off from these shares is independent of all that is beside them. So with the variance A of all before a
    # sum, that of the sum F, their covariance B, and p and q of V before a child and in it:
    one, top = 1 << 240, max(levels)
    v = [math.floor(x / top * one) for x in levels]
    if not fitted:
        found, ends = [0] * n, [*accumulate(arities, mul, initial=1)]
        for i, (size, x) in enumerate(each(ends, v)):
            arity = arities[i] if i < len(arities) else n + 1
            found = [y + (t // size) % arity * x for t, y in enumerate(found, 1)]
        return [F(x, one) * top for x in found]
    below, parts = [v[0]] * n, list[list[list[int]]]()
    for arity, x in each(arities, v[1:]):
        parts.append([below[i : i + arity] for i in range(0, len(below), arity)])
        below = [y * x // (y + x) for y in map(sum, parts[-1])]
    state = [(before, 0, y) for before, y in zip(accumulate(below, initial=0), below, strict=False)]
    for groups in reversed(parts):
        after = list[tuple[int, int, int]]()
        for (A, B, own), group in each(state, groups):
            V, before = sum(group), 0
            for y in group:
                p, q = (before << 240) // V, (y << 240) // V
                after.append((A + (2 * p * B >> 240) + (p * (p * own + (one - p) * V >> 240) >> 240),
                              q * (B + (p * (own - V) >> 240)) >> 240, q * (q * own + (one - q) * V >> 240) >> 240))
                before += y
        state = after
    return [F(A + 2 * B + own, one) * top for A, B, own in state]
class Sums:  # sums of rounds that have pure noise: what one round costs in all that hold it, and how running sums stray
    def __init__(self, file: File, own: Records, noise: Any, n: int) -> None:
        given, self.file, self.own = file.terms["pair"], file, own
        known = {"laplace": "scales", "geometric": "scales", "k_norm": "scale kept reach"}
        fields(noise, "noise", f"step pivots embed {known[one_of(file.pure, 'mechanism', ' '.join(known))]}")
        tree, r = one_of(given["kind"], "pair.kind", "tree toeplitz") == "tree", len(own.step)
        fields(given, "pair", "kind arities widths fitted" if tree else "kind column")
        if n > (1 << 17 if tree else 1 << 10):
            undecided(f"pair: {n} rounds; up to 2^17 of trees, and 2^10 of square roots, are decided here")
        self.spread, self.price, self.step = (self.of_norm if file.pure == "k_norm" else self.of_numbers)(noise, r)
        if tree:
            arities, widths = wholes(given["arities"], "pair.arities", least=2), numbers(given["widths"], "pair.widths", least=2.0**-100, below=2.0**100)
            counts = [*accumulate(arities, lambda many, arity: -(-many // arity), initial=n)]
            if len(widths) != len(counts) or 1 in counts[:-1] or type(given["fitted"]) is not bool:
                false("pair.widths are not those of the levels of a tree")
            self.cost = sum(map(self.price, widths), ZERO)  # a round is in one sum of each level
            squares = [self.spread(x) for x in widths]
            self.rows = of_tree(n, arities, [x / self.spread(1.0) for x in squares], given["fitted"])
            self.off = F(given["fitted"] * 4 * len(widths) ** 2)  # what steps of least squares add, as the program has it
            return
        c = [F(x) * 2**20 for x in unpacked(given["column"], "pair.column", [n])[0]]
        if c[0] != 2**20 or any(x.denominator > 1 or abs(x) > 2**20 for x in c):
            false("pair.column is not 1 and multiples of 2^-20, up to 1")
        if file.pure == "geometric":
            false("whole noise on parts of rounds")
        # a change s of a round moves each later sum by c·s, and by less than a step more, as sums are rounded: of whole numbers
        moved, step = self.price(1.0), self.step()
        self.cost = moved + sum((abs(x) / 2**20 * moved + step for x in c[1:] if x), ZERO)
        inverse = list[int]()  # of C's first column, then of W·C⁻¹
        back = [int(x) for x in c[1:]]
        for t in range(n):
            inverse.append(((t == 0) << 300) - (dot(back[:t], inverse[::-1]) >> 20))
        answers = [F(x, 1 << 300) for x in accumulate(inverse)]
        self.rows = [*accumulate(cut(x * x, 300, 1) for x in answers)]
        self.off = sum(map(abs, answers), ZERO)
    def of_numbers(self, noise: Any, r: int) -> Any:  # of independent numbers: their variances, what a change costs at a width, and a step
        own, given, whole = self.own, numbers(noise["scales"], "noise.scales", r, 2.0**-1000), self.file.pure == "geometric"
        moves, apart = own.moves(0), [F(1)] * r
        if whole:  # multiples of what codes are apart by, of 0 too where a value becomes 0
            codes = own.codes() if own.kind == "points" and len({*given}) == 1 else undecided("whole noise but on lists, or of several scales")
            apart = [F(math.gcd(*(x - y * (not own.counted) for x, y in each(row, row[:1] * len(row))))) for row in turned(codes)]
        if not all(apart):
            undecided("whole noise on a number that never changes")
        self.base = [self.file.spread(F(b)) * x * x for b, x in each(given, apart)]
        def price(width: float) -> F:  # scales are floats
            scales = [F(b * width) * x for b, x in each(given, apart)]
            return max(sum((x / b for x, b in each(row, scales)), ZERO) for row in moves)
        moving = [any(x) for x in each(*moves)]
        return (lambda width: self.file.spread(F(given[0] * width))), price, lambda: sum((1 / F(b) for b, x in each(given, moving) if x), ZERO)
    def of_norm(self, noise: Any, r: int) -> Any:  # of noise of the shape of all changes of a round
        shape, scale = Shape(self.file, self.own, noise, r, 0), single(noise["scale"], "noise.scale", 2.0**-1000)
        self.shape = shape
        less = 1 - F(self.own.kind == "image", 1 << 36)  # as is believed of images, whose norm is of a body as much larger
        return (lambda width: F(width) ** 2), (lambda width: less / F(float(scale) * width)), lambda: undecided("noise of a norm on parts of rounds")
    def strays(self, answers: Dyadic) -> list[F]:  # the variances of answers to the noise of a sum of width 1
        if self.file.pure == "k_norm":
            return self.shape.variances(answers, self.own.step)
        return [sum(((F(e, 1 << answers[1]) * F(s)) ** 2 * v for e, s, v in each(row, self.own.step, self.base)), ZERO) for row in answers[0]]
def check_stream(file: File) -> None:  # the plan of a stream
    terms, derived, question, counted = file.terms, file.derived, file.terms["question"], file.counted
    noise = terms["noise"] if file.pure else fields(terms["noise"], "noise", "kind step cover scale factor reach pivots embed")
    one_of(question["workload"]["kind"], "workload.kind", "prefix")
    n = wholes([fields(question["workload"], "workload", "kind rounds")["rounds"]], "rounds", below=1 << 40)[0]
    own = Records(question, noise, "kind workload", counted, lifted=False)
    mean = one_of(terms["error"], "error", "mean max") == "mean"
    if not n or (counted and any(own.center)):
        false("a stream has no rounds, or is not coded about 0 where rounds become 0")
    answers, widths = own.answers(noise), own.widths()
    pair: Any = None
    if file.pure:
        pair = Sums(file, own, noise, n)
        file.hides(pair.cost <= file.limit)
        x = pair.cost  # of ρ and μ no more is known than of any noise of this ε
        file.charged(x * (1 - 2 / (exp(x, 1) + 1)), (2 * quantile(1 / (1 + exp(-x, 0)), (x + 1) / 2)) ** 2)
        through, side = pair.strays(answers), [pair.off**2 + F(1, 12)] * len(widths)
    else:
        law, pair, cover = Noise(noise, len(own.pivots)), Factors(terms["pair"], n), list(map(F, numbers(noise["cover"], "noise.cover", -1, 0.0)))
        left = file.limit
        for row, width, tau in each(law.factor, widths, cover):
            size = F(sum(map(abs, row)), 1 << law.over) * (pair.error + growth(len(row) + 3) * pair.size)
            left -= ((2 * size + 4 * root(F(n), 1) + pair.residual * width) / tau) ** 2 if width else 0
        file.say("no change by one person, in a round, is beyond μ", left >= 0 and own.covers(law, 0, left / pair.column))
        through, side = law.variances(answers, own.step), [tau**2 + F(1, 12) for tau in cover]
    coarse(own.step, own.rounding(), n, [v * sum(pair.rows, ZERO) / n for v in through], file.pure == "geometric", answers)
    hidden = [sum(((F(e, 1 << answers[1]) * F(s)) ** 2 * x for e, s, x, width in each(row, own.step, side, widths) if width), ZERO)
              for row in answers[0]]
    square = (sum(pair.rows, ZERO) / n if mean else max(pair.rows)) * sum(through, ZERO) + sum(hidden, ZERO)
    rounds = [pair.rows[t - 1] for t in numbers(derived["rounds"], "derived.rounds", -1, 1, int, n + 1)]
    stated = [x for row in derived["standard_deviation"] for x in row]
    file.told(stated, [x * a + b for x in rounds for a, b in each(through, hidden)], square)
    evidence, changes = terms["evidence"], terms["evidence"]["changes"]
    own.counted = counted and own.kind != "image"  # evidence about ±K is half of that about K − K
    change = proved(answers, changes["query_weights"], *own.moment(changes), False) / 4 ** (own.counted != counted)
    factor, lower = (trace_norm(n) / n) ** 2, ZERO if file.pure else single(derived["certificate"]["lower"], "certificate.lower")
    if "rounds" in evidence and (file.pure or lower**2 * file.allowed > factor * change):  # a block of rounds proves more
        given, m = evidence["rounds"], wholes([evidence["block"]], "evidence.block", below=min(n, 2 * WIDEST) + 1)[0]
        columns = [[int(i >= j) for i in range(m)] for j in wholes(given["vertices"], "evidence.vertices", below=m)]
        w = rounded(numbers(given["vertex_weights"], "evidence.vertex_weights", len(columns), 0.0))
        gamma = proved((unit(m), 0), given["query_weights"], (gram(columns, w), 0), F(sum(w)), not mean)
        factor = max(factor, gamma * (n // m) / n if mean else gamma)
    file.bounds(square * (1 - F(1, 1 << 45)), factor * change, factor * change)  # roots were once rounded to nearest

# -- a file
CHECKS = {  # of each kind of question: what checks it, and what terms and what is derived have beyond the others
    "mean": (check_values, "size order weights unit", "standard_deviation objective names estimate"),
    "queries": (check_values, "size order weights", "standard_deviation objective names estimate"),
    "sum": (check_values, "size order weights unit", "standard_deviation objective names estimate"),
    "mean_by_groups": (check_groups, "size order weights unit", "groups objective names estimate"),
    "sum_by_groups": (check_groups, "size order weights unit", "groups objective names estimate"),
    "marginals": (check_marginals, "size order unit", "marginals objective"),
    "stream": (check_stream, "error strategy reason pair", "rounds standard_deviation")}
def check(file: File, text: str) -> None:  # a document of any kind
    document = json.loads(text, object_pairs_hook=once) if len(text) <= LONGEST else undecided("the file is too long")
    one_of(document["format"], "format", " ".join(f"lownoise.{kind}/{n}" for kind in ("plan", "release") for n in (1, 2, 3, 6)))
    file.first = str(document["format"]).endswith("/1")
    terms = fields(document, "file", "format digest terms derived integers spend created versions")["terms"]
    decided, asked, told = CHECKS[one_of(terms["question"]["kind"], "question.kind", " ".join(CHECKS))]
    file.read(fields(terms, "terms", f"question budget relation noise evidence compared mechanism {asked}"),
              fields(document["derived"], "derived", f"error certificate lower_bound cost cost_of_noise {told}"))
    if file.pure and decided is check_groups:
        undecided("groups under a pure budget")
    decided(file)
def examined(text: str) -> File:  # a file's text, and what is found of it
    return tried(File(), lambda file: check(file, text))
def tried(file: File, run: Any) -> File:  # one on which something is done, and why it stopped
    try:
        run(file)
    except StopError as error:
        file.found.append(error.args)
    except (*DAMAGE, OSError):
        file.found.append((FALSE, "a part of the file is damaged"))
    return file
def result(file: File) -> tuple[int, list[str]]:  # the exit status, and lines that say why
    status = max((own for own, _ in file.found), key=(HOLDS, OPEN, FALSE).index)
    said = ("HOLDS: no neighbour shows more than the budget allows, and both bounds are proved",
            "FALSE, or without proof: ", "CANNOT DECIDE: ")[status]
    said += "; ".join(what for own, what in file.found if own == status) * (status != HOLDS)
    return status, [*(f"{('holds', 'FALSE', 'open ')[own]}  {what}" for own, what in file.found), said]
def decide(text: str) -> tuple[int, list[str]]:  # the exit status of a file's text, and lines that say why
    return result(examined(text))
def content(path: Path, named: bool = False) -> str:  # of a file, no longer than what is read; a pipe only where it is named
    if not (named or path.is_file()):
        raise FileNotFoundError(path)
    with path.open(encoding="utf-8") as file:
        return file.read(LONGEST + 1)
def check_together(file: File, folder: Path) -> None:  # a folder of plans or releases that share a budget
    document = json.loads(content(folder / TOGETHER), object_pairs_hook=once)
    one_of(document["format"], "format", "lownoise.together/2")
    kind = "plans" if "plans" in document else "releases"
    fields(document, TOGETHER, f"format digest budget members shares importance apart {kind}")
    places, members = [*dict.fromkeys(document[kind].values())], list[File]()
    for i, place in enumerate(places, 1):
        named = re.fullmatch(rf"{i}(-[A-Za-z0-9_-]+)?(\.json)?", place) or false("a member has another name")
        name = place if named[2] else f"{place}/{RELEASE}"
        members.append(tried(File(), lambda own, name=name: check(own, content(folder / name))))
        file.found += [(status, f"{place}: {what}") for status, what in members[-1].found]
    if any(own.spent is None for own in members) or not members:
        undecided("what all reveal together")
    file.pure = members[0].pure
    alike = {(bool(own.pure), *(json.dumps(own.terms.get(k)) for k in ("relation", "size", "unit"))) for own in members}
    most, *room = (granted if file.pure else allowed)(document["budget"])
    total = sum((own.spent for own in members if own.spent is not None), ZERO)
    file.say("all are of one relation, number of records, unit and kind of noise", len(alike) == 1)
    lost = sum((own.delta for own in members), ZERO)
    file.say("all reveal together no more than the budget", total <= most and (not lost or lost <= room[0]))
def main() -> None:  # the command line: one file, or a folder of them
    try:
        path = Path(sys.argv[1])
        if (path / TOGETHER).is_file():
            status, lines = result(tried(File(), lambda file: check_together(file, path)))
        else:
            status, lines = decide(content(path / RELEASE) if path.is_dir() else content(path, named=True))
    except UnicodeDecodeError:
        status, lines = UNREAD, [f"{path} is no text; give the plan.json of `lownoise plan SPEC --out DIR`, or verify a stream's own file by `lownoise verify FILE`"]
    except (OSError, ValueError, IndexError):
        status, lines = UNREAD, ["usage: lownoise-check FILE  (there is no such file)"]
    (sys.stderr if status == UNREAD else sys.stdout).write("\n".join(lines) + "\n")
    sys.exit(status)
if __name__ == "__main__":
    main()
