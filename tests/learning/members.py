# SPDX-License-Identifier: Apache-2.0
"""Losses, regularizers and settings of learning: what the laws of the room run on."""

import functools

import numpy as np

import lownoise as ln
from lownoise.learning.run import LearningRun
from lownoise.numbers.randomness import SimulationRandomness
from lownoise.streams import start

learning = ln.learning


def distance_gradients(model, X, y):
    return model - X


def distance_values(model, X, y):
    return ((X - model) ** 2).sum(axis=1) / 2


LOSSES = {
    "least squares": learning.LeastSquares(),
    "logistic": learning.Logistic(),
    "huber": learning.Huber(0.4),
    "distance": learning.Loss(value=distance_values, gradient=distance_gradients, lipschitz=3.0),
}
REGULARIZERS = {
    "none": None,
    "ridge": learning.Ridge(0.05),
    "lasso": learning.Lasso(0.02),
    "elastic net": learning.ElasticNet(0.01, 0.03),
}
STRATEGIES = ("optimal", "square_root", "toeplitz", "rational", "binary_tree", "input")


@functools.cache
def _planned(loss, fields):
    return learning.plan(LOSSES[loss], **dict(fields))


def planned(loss="logistic", **fields):
    """Return a small plan, made once."""
    own = {
        "features": 3,
        "records": 60,
        "batch": 4,
        "clip": 0.5,
        "radius": 2.0,
        "budget": ln.zcdp(0.5),
        "feature_radius": 1.0,
        "target_bound": 1.0,
        **fields,
    }
    return _planned(loss, tuple(sorted(own.items(), key=lambda item: item[0])))


def simulated(plan, seed):
    """Return a run whose noise is a simulation's."""
    randomness = SimulationRandomness(seed)
    return LearningRun(plan, start(plan.stream.terms, randomness=randomness))


def records(plan, seed=0):
    """Return features in the unit ball, and targets."""
    rng = np.random.default_rng(seed)
    own = plan.request
    X = rng.normal(size=(own.records, own.features))
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    return X, np.sign(X @ np.arange(1.0, own.features + 1) + rng.normal(size=own.records) / 4)
