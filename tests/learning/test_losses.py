# SPDX-License-Identifier: Apache-2.0
"""Losses are convex, their gradients are theirs, and none is longer than is said."""

import numpy as np
import pytest

import lownoise as ln
from learning.members import LOSSES, learning
from lownoise.errors import PlanError
from lownoise.learning.clipping import clipped
from lownoise.learning.losses import AbstractLinearLoss

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 3))
X /= np.maximum(np.linalg.norm(X, axis=1) / 0.9, 1.0)[:, None]
Y = np.clip(RNG.normal(size=200), -1.0, 1.0)
MODELS = [RNG.normal(size=3) * s for s in (0.0, 0.1, 0.5, 1.0)]
LINEAR = {name: own for name, own in LOSSES.items() if isinstance(own, AbstractLinearLoss)}


@pytest.mark.parametrize("name", LOSSES)
def test_a_gradient_is_the_slope_of_its_value(name):
    loss, step = LOSSES[name], 1e-6
    for model in MODELS:
        for j, e in enumerate(np.eye(3) * step):
            rise = loss.values(model + e, X, Y) - loss.values(model - e, X, Y)
            slope = loss.gradients(model, X, Y)[:, j]
            assert np.max(np.abs(rise / (2 * step) - slope)) < 1e-6


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_lies_above_its_tangents(name):
    loss = LOSSES[name]
    for at in MODELS:
        for to in MODELS:
            tangent = loss.values(at, X, Y) + loss.gradients(at, X, Y) @ (to - at)
            assert np.all(loss.values(to, X, Y) >= tangent - 1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_no_gradient_is_longer_than_is_said_and_one_is_as_long(name):
    loss, radius = LINEAR[name], 2.0
    most = loss.lipschitz(radius, 1.0, 1.0)
    e = np.eye(3)[:1]
    ends = [
        np.linalg.norm(loss.gradients(r * e[0], e, np.array([y])))
        for r in (-radius, radius)
        for y in (-1.0, 1.0)
    ]
    assert max(ends) <= most <= max(ends) * (1 + 1e-9)
    for model in MODELS:
        own = model / max(np.linalg.norm(model) / radius, 1.0)
        assert np.linalg.norm(loss.gradients(own, X, Y), axis=1).max() <= most


def test_what_is_not_stated_leaves_a_length_unknown():
    assert learning.LeastSquares().lipschitz(1.0, None, 1.0) is None
    assert learning.LeastSquares().lipschitz(1.0, 1.0, None) is None
    assert learning.Logistic().lipschitz(1.0, None, 1.0) is None
    assert learning.Huber(0.5).lipschitz(1.0, 2.0, None) == pytest.approx(1.0)


@pytest.mark.parametrize("clip", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("name", LINEAR)
def test_a_clipped_gradient_is_the_gradient_of_the_clipped_loss_which_is_convex(name, clip):
    loss, step = LINEAR[name], 1e-6
    unit = 2.0**-40
    for model in MODELS:
        own = clipped(loss.gradients(model, X, Y), clip, unit)
        for j, e in enumerate(np.eye(3) * step):
            rise = loss.clipped_values(model + e, X, Y, clip) - loss.clipped_values(
                model - e, X, Y, clip
            )
            # a kink of the slope within the step leaves half of it
            assert np.max(np.abs(rise / (2 * step) - own[:, j])) < 1e-5
        for to in MODELS:
            tangent = loss.clipped_values(model, X, Y, clip) + own @ (to - model)
            assert np.all(loss.clipped_values(to, X, Y, clip) >= tangent - 1e-9)


@pytest.mark.parametrize("name", LINEAR)
def test_the_clipped_loss_is_the_loss_where_nothing_is_clipped(name):
    loss = LINEAR[name]
    for model in MODELS:
        assert np.allclose(loss.clipped_values(model, X, Y, 100.0), loss.values(model, X, Y))


def test_targets_of_two_classes_come_as_0_and_1_or_as_signs():
    loss, model = learning.Logistic(), np.array([0.3, -1.0, 0.2])
    signs = np.sign(Y)
    assert np.array_equal(
        loss.gradients(model, X, signs), loss.gradients(model, X, (signs > 0).astype(float))
    )
    assert np.isnan(loss.gradients(model, X[:1], np.array([np.nan]))).all()


def test_extreme_margins_neither_overflow_nor_warn():
    loss, far = learning.Logistic(), np.array([[1e5], [-1e5]])
    with np.errstate(all="raise", under="ignore"):
        assert loss.gradients(np.ones(1), far, np.ones(2)).ravel().tolist() == [-0.0, 1e5]
        assert loss.values(np.ones(1), far, np.ones(2)).tolist() == [0.0, 1e5]


def test_predictions_are_margins_or_chances():
    model = np.array([1.0, 0.0, 0.0])
    assert np.array_equal(learning.LeastSquares().predictions(model, X), X[:, 0])
    chances = learning.Logistic().predictions(model, X)
    assert np.allclose(np.log(chances / (1 - chances)), X[:, 0])
    with pytest.raises(PlanError, match="predictions"):
        LOSSES["distance"].predictions(model, X)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: learning.Huber(0), "threshold=0"),
        (lambda: learning.Huber("x"), "threshold"),
        (lambda: learning.Loss(value=1, gradient=len), "value=1"),
        (lambda: learning.Loss(value=len, gradient=None), "gradient=None"),
        (lambda: learning.Loss(value=len, gradient=len, lipschitz=-1), "lipschitz=-1"),
        (lambda: learning.Loss(value=len, gradient=len, name="a\nb"), "name="),
        (lambda: learning.Loss(value=len, gradient=len, dimension=0), "dimension=0"),
        (lambda: learning.ElasticNet(lasso=-1), "lasso=-1"),
        (lambda: learning.Ridge(float("inf")), "ridge=inf"),
    ],
)
def test_a_wrong_argument_is_one_line(make, match):
    with pytest.raises(PlanError, match=match) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_the_room_lists_what_the_registry_has():
    kinds = {own.__name__ for own in ln.learning.LOSSES.classes}
    assert kinds == {"LeastSquares", "Logistic", "Huber", "Loss"}
