# SPDX-License-Identifier: Apache-2.0
"""Public plans of small randomizers, as a device is given them."""

from __future__ import annotations

import numpy as np

from local_model.coins import sizes
from local_model.members import MEMBERS
from lownoise.local_model import ENCODERS, RANDOMIZERS, TablesEncoder
from lownoise.local_model.cells import Category
from lownoise.local_model.encoders import EllipsoidEncoder, NearestEncoder, RangeEncoder
from lownoise.release import codec


def encoder_for(randomizer):
    """An encoder of records with as many columns as the randomizer's coordinates."""
    r = randomizer.dimension
    columns = tuple(f"x{j}" for j in range(r))
    lower, upper, missing = np.full(r, -1.0), np.full(r, 1.0), np.zeros(r)
    ends = {"lower": lower, "upper": upper}
    if randomizer.takes == "ball":
        around = {"center": np.zeros(r), "factor": np.full(r, 2.0)}
        return EllipsoidEncoder(columns=columns, missing=missing, **ends, **around)
    if randomizer.takes == "cube":
        return RangeEncoder(columns=columns, missing=missing, **ends)
    if randomizer.takes == "labels":
        attributes = tuple(Category(f"x{j}", k, 0) for j, k in enumerate(sizes(randomizer)))
        return TablesEncoder(
            attributes=attributes, sets=tuple((j,) for j in range(len(attributes)))
        )
    points = np.eye(r)
    return NearestEncoder(columns=columns, points=points, missing=points.mean(axis=0))


def terms_of(randomizer, epsilon=1.0, delta=0.0, name=""):
    encoder = encoder_for(randomizer)
    return {
        "name": name,
        "budget": {"kind": "local_dp", "epsilon": epsilon, "delta": delta},
        "order": 2.0,
        "weights": [1.0] * encoder.length,
        "encoder": ENCODERS.write(encoder),
        "randomizer": RANDOMIZERS.write(randomizer),
        "alternatives": [],
    }


def document(member, **more):
    """The document of a member's plan."""
    return codec.dump("local", {"terms": terms_of(MEMBERS[member](), **more), "derived": {}})
