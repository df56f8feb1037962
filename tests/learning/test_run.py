# SPDX-License-Identifier: Apache-2.0
"""A run: paid once, gone on with bit for bit from its file, and refused where it is another's."""

import itertools
import shutil
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lownoise as ln
from learning.members import LOSSES, learning, planned, records, simulated
from lownoise.errors import FileError, LedgerError, StreamError, TableError
from lownoise.learning.learned import followed
from lownoise.learning.run import ENDING, State


def test_a_run_is_follow_the_leader_on_the_streams_answers():
    plan = planned(epochs=2, momentum=0.5, records=10)
    run = simulated(plan, 5)
    X, y = records(plan)
    own = plan.request
    for t in range(run.rounds):
        first = t % 3 * 4
        model = run.update(X[first : first + 4], y[first : first + 4])
        answer = run.stream.last.answers[-1]
        whole = -plan.learning_rate * answer / own.batch
        whole *= min(1.0, own.radius / np.linalg.norm(whole))
        assert np.allclose(model, whole, rtol=1e-12, atol=1e-15)
        assert not model.flags.writeable


def test_without_noise_it_learns_what_gradient_descent_does():
    plan = planned("least squares", budget=ln.zcdp(1e6), clip=10.0, records=40, batch=40, epochs=60,
                   learning_rate=1.5, radius=50.0)  # fmt: skip
    X, y = records(plan)
    model = np.zeros(3)
    for _ in range(60):
        model = model - 1.5 * X.T @ (X @ model - y) / 40
    assert np.allclose(plan.fit(X, y).model, model, atol=0.05)


def test_the_average_weighs_models_by_their_records():
    plan = planned(records=10, epochs=2)
    run = simulated(plan, 3)
    X, y = records(plan)
    assert np.array_equal(run.average, run.model)
    models = [run.model]
    for t in range(6):
        first = t % 3 * 4
        models.append(run.update(X[first : first + 4], y[first : first + 4]))
        weights = [plan.request.size(s + 1) for s in range(t + 1)]
        assert np.allclose(run.average, np.average(models[:-1], axis=0, weights=weights))


def test_going_on_from_the_file_is_as_if_nothing_had_been(tmp_path):
    plan = planned(epochs=2, strategy="rational", intercept=True)
    X, y = records(plan)
    path = tmp_path / "run.stream"
    run = plan.start(path=path)
    for t in range(7):
        run.update(X[4 * t : 4 * t + 4], y[4 * t : 4 * t + 4])
    model, average = run.model, run.average
    del run
    again = plan.start(path=path)
    assert again.round == 7
    assert np.array_equal(again.model, model)
    assert np.array_equal(again.average, average)
    copy = tmp_path / "copy.stream"
    shutil.copy(path, copy)
    shutil.copy(f"{path}{ENDING}", f"{copy}{ENDING}")
    other = learning.LearningPlan.from_json(plan.to_json()).start(path=copy)
    for t in range(7, 15):
        own = X[4 * t : 4 * t + 4], y[4 * t : 4 * t + 4]
        again.update(*own)
        other.update(*own)
    # noise that is drawn ahead is in the file; what is drawn later is drawn anew by each
    assert again.round == other.round == 15
    assert np.array_equal(again.model, other.model)
    assert np.array_equal(again.average, other.average)


def test_asked_twice_it_answers_alike_and_does_not_look():
    plan = planned()
    run = simulated(plan, 2)
    X, y = records(plan)
    with pytest.raises(StreamError, match="round=0"):
        run.update(X[:4], y[:4], round=0)
    model = run.update(X[:4], y[:4], round=1)
    assert np.array_equal(run.update(None, None, round=1), model)
    assert run.round == 1
    for wrong in (3, 0, True, "2"):
        with pytest.raises(StreamError, match="neither"):
            run.update(X[:4], y[:4], round=wrong)
    run.update(X[:4], y[:4], round=2)


def test_without_the_file_of_what_was_published_only_the_average_is_lost(tmp_path):
    plan = planned()
    X, y = records(plan)
    path = tmp_path / "run.stream"
    run = plan.start(path=path)
    run.update(X[:4], y[:4])
    first = (tmp_path / f"run.stream{ENDING}").read_bytes()
    run.update(X[:4], y[:4])
    run.update(X[:4], y[:4])
    model = run.model
    other = plan.start(path=tmp_path / "other.stream")
    for _ in range(3):
        other.update(X[:4], y[:4])
    others = (tmp_path / f"other.stream{ENDING}").read_bytes()
    for content in (None, b"", b"{}", first, others):
        beside = tmp_path / f"run.stream{ENDING}"
        beside.unlink(missing_ok=True)
        if content is not None:
            beside.write_bytes(content)
        again = plan.start(path=path)
        assert np.array_equal(again.model, model)
        with pytest.raises(StreamError, match="average is not known"):
            _ = again.average


def test_an_interrupt_after_the_answer_loses_nothing(monkeypatch):
    plan = planned()
    X, y = records(plan)
    run, whole = simulated(plan, 8), simulated(plan, 8)
    for t in range(4):
        own = X[4 * t : 4 * t + 4], y[4 * t : 4 * t + 4]
        whole.update(*own)
        if t == 2:
            with monkeypatch.context() as patch:
                patch.setattr(run, "_step", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    run.update(*own)
            assert run.round == 3
        else:
            run.update(*own)
        assert np.array_equal(run.model, whole.model)
        assert np.array_equal(run.average, whole.average)


def interrupted(*_):
    raise KeyboardInterrupt


def test_a_file_of_a_chosen_strategy_is_that_of_the_one_asked_for_by_name(tmp_path):
    plan = planned()
    plan.start(path=tmp_path / "run.stream")
    assert planned(strategy=plan.strategy).start(path=tmp_path / "run.stream").round == 0


def test_another_plan_does_not_go_on_from_the_file(tmp_path):
    path = tmp_path / "run.stream"
    plan = planned()
    plan.start(path=path)
    others = [
        planned(radius=1.0), planned("huber"), planned(clip=0.25), planned(epochs=2),
        planned(learning_rate=0.5), planned(records=59), planned(momentum=0.5),
    ]  # fmt: skip
    for other in others:
        with pytest.raises(FileError, match="another"):
            other.start(path=path)
    with pytest.raises(FileError, match="another"):
        ln.stream(ln.Prefix(15), budget=ln.zcdp(0.5), path=path)
    assert plan.start(path=path).round == 0


def test_the_account_pays_once_before_the_first_step_for_all_epochs(tmp_path):
    account = ln.Ledger.create(tmp_path / "ledger", "people", ln.zcdp(0.8))
    plan = planned(epochs=2)
    path = tmp_path / "run.stream"
    run = plan.start(ledger=account, path=path)
    assert len(account.entries()) == 1
    assert run.round == 0
    found = plan.fit(*records(plan), ledger=account, path=path)
    assert len(account.entries()) == 1
    assert found.spend.dataset == "people"
    with pytest.raises(LedgerError):
        plan.start(ledger=account, path=tmp_path / "other.stream")
    with pytest.raises(LedgerError):
        plan.fit(*records(plan), ledger=account)
    assert not (tmp_path / "other.stream").exists()


def test_an_old_copy_is_refused_by_the_ledger(tmp_path):
    account = ln.Ledger.create(tmp_path / "ledger", "people", ln.zcdp(0.8))
    plan = planned()
    X, y = records(plan)
    path = tmp_path / "run.stream"
    run = plan.start(ledger=account, path=path)
    run.update(X[:4], y[:4])
    shutil.copy(path, tmp_path / "old.stream")
    run.update(X[:4], y[:4])
    run.update(X[:4], y[:4])
    with pytest.raises(LedgerError):
        plan.start(ledger=account, path=tmp_path / "old.stream")


BATCHES = [
    (lambda X, y: (X[:3], y[:3]), "X has 3 rows in round 1, which has 4"),
    (lambda X, y: (X[:5], y[:5]), "X has 5 rows"),
    (lambda X, y: (X[:4, :2], y[:4]), "features=3"),
    (lambda X, y: (X[:4], y[:3]), "y has 3 targets for 4"),
    (lambda X, _: (X[:4], X[:4]), "y is no list"),
    (lambda _, y: (None, y[:4]), "X is no table"),
    (lambda _, y: ("abc", y[:4]), "X is no table"),
    (lambda X, _: (X[:4], None), "y is no list"),
    (lambda X, y: (X[0], y[:4]), "X is no table"),
]


@pytest.mark.parametrize(("make", "match"), BATCHES)
def test_a_batch_of_another_shape_is_one_line_and_no_round(make, match):
    plan = planned()
    run = simulated(plan, 1)
    with pytest.raises(TableError, match=match) as refused:
        run.update(*make(*records(plan)))
    assert "\n" not in str(refused.value)
    assert run.round == 0


def test_a_table_of_another_size_is_refused_before_anything_is_paid(tmp_path):
    account = ln.Ledger.create(tmp_path / "ledger", "people", ln.zcdp(0.8))
    plan = planned()
    X, y = records(plan)
    for own in ((X[:-1], y[:-1]), (X, y[:-1])):
        with pytest.raises(TableError):
            plan.fit(*own, ledger=account)
    assert not account.entries()


def test_no_round_follows_the_last():
    plan = planned(records=8, batch=8)
    run = simulated(plan, 1)
    X, y = records(plan)
    run.update(X, y)
    with pytest.raises(StreamError, match="all of its 1 rounds"):
        run.update(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_no_value_is_reported_and_a_record_without_a_finite_gradient_counts_as_none(value):
    plan = planned("least squares", feature_radius=None, target_bound=None)
    X, y = records(plan)
    bad = X.copy()
    bad[2, 1] = value
    runs = [simulated(plan, 4) for _ in range(2)]
    for t, run in enumerate(runs):
        own = X.copy()
        own[2] = np.nan
        run.update((bad if t else own)[:4], y[:4])
    if value != 1e308:
        assert np.array_equal(runs[0].model, runs[1].model)
    assert np.all(np.isfinite(runs[1].model))


def test_arrays_frames_and_lists_are_read_alike():
    plan = planned(records=4)
    X, y = records(plan)
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    tables = [
        (X, y),
        (X.tolist(), y.tolist()),
        (frame, pd.Series(y)),
        (pl.from_pandas(frame), pl.Series(y)),
        (pa.Table.from_pandas(frame), pa.array(y)),
        (frame.astype(object), pd.Series(y, dtype=object)),
    ]
    models = [simulated(plan, 9).update(*own) for own in tables]
    assert all(np.array_equal(own, models[0]) for own in models)
    gaps = [None, *y[1:].tolist()]
    lists = [gaps, pa.array(gaps), pa.chunked_array([gaps]), pl.Series(gaps), pd.Series(gaps)]
    models = [simulated(plan, 9).update(X, own) for own in lists]
    assert all(np.array_equal(own, models[0]) for own in models)
    holes = frame.astype(object)
    holes.iloc[1, 1] = None
    gone = X.copy()
    gone[1, 1] = np.nan
    tables = [(holes, y), (gone, y), (pa.table({n: holes[n].tolist() for n in names}), y)]
    models = [simulated(plan, 9).update(*own) for own in tables]
    assert all(np.array_equal(own, models[0]) for own in models)


def test_fit_is_updates_in_order_and_progress_is_public():
    plan = planned(records=10, epochs=2, intercept=True)
    X, y = records(plan)
    run = simulated(plan, 6)
    for t in range(6):
        first = t % 3 * 4
        run.update(X[first : first + 4], y[first : first + 4])
    steps = []
    rows = plan.request.reading.rows(X)
    found = followed(simulated(plan, 6), rows, y, steps.append)
    assert np.array_equal(found.model, run.model)
    assert np.array_equal(found.average, run.average)
    assert [(own.round, own.rounds) for own in steps] == [(t + 1, 6) for t in range(6)]
    assert all(0 <= own.seconds <= found.seconds for own in steps)


def test_features_and_targets_are_brought_into_what_was_stated():
    plan = planned("least squares", feature_radius=0.5, target_bound=0.25)
    rows = plan.request.reading.rows(np.array([[3.0, 4.0, 0.0], [0.1, 0.0, 0.0]]))
    assert np.allclose(rows, [[0.3, 0.4, 0.0], [0.1, 0.0, 0.0]])
    assert plan.request.reading.targets([1.0, -0.1], 2).tolist() == [0.25, -0.1]


def test_what_was_learned_predicts_and_is_evaluated():
    plan = planned(records=4, intercept=True)
    X, y = records(plan)
    found = plan.fit(X, y)
    ones = np.hstack([X, np.ones((4, 1))])
    assert np.allclose(found.predict(X), 1 / (1 + np.exp(-ones @ found.model)))
    assert np.allclose(found.predict(X, average=True), 1 / (1 + np.exp(-ones @ found.average)))
    own = found.evaluate(X, y)
    assert own.loss == pytest.approx(np.mean(np.log1p(np.exp(-y * (ones @ found.model)))))
    assert own.accuracy == np.mean((ones @ found.model > 0) == (y > 0))
    assert planned("huber", records=4).fit(X, y).evaluate(X, y).accuracy is None


VALUES = (0.5, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, None, "x", "2", 10**400, [1], 1j)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_value_warns_or_fails_whatever_the_caller_made_of_warnings(loss):
    pairs = list(itertools.product(VALUES, VALUES))
    stated = {"features": 2, "records": len(pairs), "batch": len(pairs), "clip": 1.0, "radius": 1.0}
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in ({"feature_radius": 1.0, "target_bound": 1.0}, {"intercept": True}):
            plan = learning.plan(LOSSES[loss], **stated, **more, budget=ln.zcdp(0.5))
            model = simulated(plan, 1).update(pairs, [second for _, second in pairs])
            assert np.all(np.isfinite(model))


@pytest.mark.parametrize("far", ["model", "sum", "nan"])
def test_a_file_of_models_that_no_run_has_is_not_believed(tmp_path, far):
    plan = planned()
    X, y = records(plan)
    path = tmp_path / "run.stream"
    run = plan.start(path=path)
    run.update(X[:4], y[:4])
    run.update(X[:4], y[:4])
    beside = tmp_path / f"run.stream{ENDING}"
    state = State.read(beside, run.stream.identity, run.model.size, plan.request.radius)
    assert np.array_equal(plan.start(path=path).average, run.average)
    pushed = np.full(run.model.size, np.nan if far == "nan" else 1e3)
    model, total = (pushed, state.total) if far == "model" else (state.model, pushed)
    State(state.round, total, model).write(beside, run.stream.identity)
    with pytest.raises(StreamError, match="average is not known"):
        _ = plan.start(path=path).average


def test_a_gradient_function_cannot_write_to_the_model_that_is_published():
    def gradient(model, X, y):
        model.setflags(write=True)
        model[:] = X[0, 0]
        return X

    loss = learning.Loss(value=len, gradient=gradient, lipschitz=1.0)
    plan = learning.plan(
        loss, features=3, records=4, batch=4, clip=1.0, radius=1.0, budget=ln.zcdp(0.5)
    )
    run = plan.start()
    before = run.model
    run.update(np.full((4, 3), 0.25), np.zeros(4))
    assert not np.any(before)
