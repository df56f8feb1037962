# SPDX-License-Identifier: Apache-2.0
"""What is stored of a plan, and the laws by which what it is now is compared.

* What is charged, and the radius: never less, but for last bits; more by at most 1e-9 of it is
  directed slack, more by at most 1e-6 is named, and beyond that is a loss. Where the noise itself
  moved in its last digits its charge may be less by 1e-9, as of plans that leave 2⁻⁴⁰ of a budget
  to what other processors round (decision 0111), and where a search combines bodies.
* Deviations, covariance and error: within 1e-6 of what they were. What no mechanism beats: no less
  than it was, by 1e-6; more is proved when bounds are better.
* Exact totals, as the difference that two tables make under one seed: the same integers. Where
  records are clipped by a search, whose last bits are the machine's, within 1e-10.
* Released integers under one seed: the same; where the noise moved in its last digits, but for 1e-6
  of what it added.

What a search ends at depends on the order in which a machine adds up: on x86 on what OpenBLAS takes
it for (`OPENBLAS_CORETYPE`). Deviations of streams under a maximum move by some 1e-5 with it.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from tests.golden import accessors

from lownoise.errors import LownoiseError

NEAR, SLACK = 1e-6, 1e-9
LAST = 2.0**-50  # of a charge of the same noise: bounds by products, of which machines have two
SEARCHED = ("member hull of", "member sum of")  # clipped, and bounded outward, by a search
CLIPPED = 1e-10  # of the greatest total, that such a search is off by
FLAT = 1e-4  # what deviations of streams move by where only the greatest counts; draws by 10 of it
SEED = 7
MOST = 6  # deviations and totals that are stored one by one
LARGEST = 400  # answers, of which the covariance is asked for


def facts_of(asked):
    """Return what is stored of a row: its facts, or how it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of domains of all scales; other tests hold warnings
        try:
            made = _made(asked)
        except LownoiseError as error:
            return {"refused": type(error).__name__}
        return {**_stated(made), **_released(asked, made)}


def _made(asked):
    with accessors.simulated(SEED):
        return asked.make()


def _stated(made):
    kind, numbers = accessors.event(made)
    spread = accessors.deviations(made)
    return {
        "charge": {
            k: v if v is None else float(v).hex() for k, v in accessors.charge(made).items()
        },
        "radius": accessors.radius(made.terms).hex(),
        "event": {kind: {k: v.hex() for k, v in numbers.items()}},
        "bounds": {k: _brief(v) for k, v in accessors.bounds(made).items()},
        "deviations": [*spread[:MOST].tolist(), float(np.linalg.norm(spread)), spread.size],
        "forms": _forms(made, spread),
    }


def _forms(made, spread):
    """Return four quadratic forms in the correlations of the answers."""
    if spread.size > LARGEST:
        return []
    try:
        covariance = accessors.covariance(made)
    except LownoiseError:  # of randomised response, whose noise is its data's
        return []
    if covariance is None:
        return []
    own = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    own = np.where(own > 0, own, 1.0)
    correlations = covariance / own[:, None] / own
    at = 1.0 + np.arange(len(own))
    sketches = [np.cos(k * at) / math.sqrt(at.size) for k in (1.0, 2.0, 3.0, 0.5)]
    return [_brief(v @ correlations @ v) for v in sketches]


def _brief(value):
    """Return a number that is compared to six digits with twelve of them."""
    return float(f"{value:.12g}")


def _released(asked, made):
    try:
        released = _integers(asked, made, asked.table)
        beside = _integers(asked, _made(asked), asked.reference)
    except LownoiseError as error:
        return {"not released": type(error).__name__}
    totals = [a - b for a, b in zip(released, beside, strict=True)]
    exact = all(isinstance(k, int) for k in released)
    return {
        "totals": _whole(totals) if exact else _floats(totals),
        "released": _whole(released) if exact else _floats(released),
    }


def _integers(asked, made, table):
    if hasattr(made, "update_many"):  # a stream, whose noise was drawn when it was made, or is now
        with accessors.simulated(SEED):
            return np.ravel(made.update_many(table)).tolist()
    return accessors.released(made, table, SEED)


def _whole(values):
    """Return the first numbers, and a sum of all by weights that tell their places."""
    total = sum((1 + i % 1009) * k for i, k in enumerate(values))
    return [*(str(k) for k in values[:MOST]), str(total), str(len(values))]


def _floats(values):
    own = np.asarray(values, dtype=np.float64)
    return [*own[:MOST].tolist(), float(own @ np.cos(np.arange(own.size))), float(own.size)]


def differences(was, now, name):
    """Yield a line for each law that is broken, and (as notes, with "note: ") for what moved."""
    if "refused" in was or "refused" in now:
        if was.get("refused") != now.get("refused"):
            yield f"refused by {now.get('refused')}, was by {was.get('refused')}"
        return
    searched = any(own in name for own in SEARCHED)
    moved = any(was[part] != now[part] for part in ("deviations", "forms"))
    less = moved or searched
    yield from _charges("charge", was["charge"], now["charge"], moved=less)
    yield from _charges("radius", {"": was["radius"]}, {"": now["radius"]}, moved=less)
    ((kind, before),), ((other, after),) = was["event"].items(), now["event"].items()
    if kind != other:
        yield f"event is {other} and was {kind}"
    yield from _charges("event", before, after, moved=less)
    near = FLAT if name.startswith("stream") and name.endswith(", max") else NEAR
    for part in ("deviations", "forms"):
        yield from _near(part, was[part], now[part], near)
    for key in sorted(was["bounds"]):
        old, new = was["bounds"][key], now["bounds"][key]
        if not (key.startswith("lower") and new > old):
            yield from _near(key, [old], [new])
    if was.get("not released") != now.get("not released"):
        yield f"release: {now.get('not released', 'made')}, was {was.get('not released', 'made')}"
    elif "totals" in was:
        off = CLIPPED if searched else 0.0
        loose = NEAR if near == NEAR else 10 * FLAT
        yield from _totals(was, now, near=loose if moved else 0.0, off=off)


def _charges(name, was, now, *, moved):
    if was.keys() != now.keys():
        yield f"{name} has {sorted(now)} and had {sorted(was)}"
        return
    for key, text in was.items():
        if text is None or now[key] is None:
            if text != now[key]:
                yield f"{name} {key} is {now[key]} and was {text}"
            continue
        old, new = float.fromhex(text), float.fromhex(now[key])
        least = old * (1 - (SLACK if moved else LAST))
        if not new >= least:
            yield f"{name} {key} is SMALLER: {new!r}, was {old!r}"
        elif new > old * (1 + NEAR):
            yield f"{name} {key} is larger: {new!r}, was {old!r}"
        elif new > old * (1 + SLACK):
            yield f"note: {name} {key} rose by {new / old - 1:.1e}"


def _near(name, was, now, near=NEAR):
    if len(was) != len(now):
        yield f"{name}: {len(now)} numbers, were {len(was)}"
        return
    scale = max((abs(x) for x in was if math.isfinite(x)), default=0.0) if name == "forms" else 0.0
    for i, (old, new) in enumerate(zip(was, now, strict=True)):
        if old != new and not abs(new - old) <= near * max(abs(old), scale):
            yield f"{name}[{i}] is {new!r}, was {old!r}"


def _totals(was, now, *, near, off):
    if isinstance(was["totals"][0] if was["totals"] else "", str):
        room = off * max((abs(int(k)) for k in was["totals"]), default=0)
        same = len(was["totals"]) == len(now["totals"])
        if not same or any(
            abs(int(a) - int(b)) > room for a, b in zip(was["totals"], now["totals"], strict=True)
        ):
            yield f"exact totals are {now['totals']}, were {was['totals']}"
            return
        own = zip(was["released"], now["released"], was["totals"], strict=True)
        for i, (old, new, total) in enumerate(own):
            if abs(int(new) - int(old)) > room + abs(int(old) - int(total)) * near:
                yield f"released[{i}] is {new}, was {old}"
        return
    scale = max(map(abs, was["totals"])) + max(map(abs, was["released"]))
    for part in ("totals", "released"):
        for i, (old, new) in enumerate(zip(was[part], now[part], strict=True)):
            if not abs(new - old) <= max(near, SLACK) * scale:
                yield f"{part}[{i}] is {new!r}, was {old!r}"
