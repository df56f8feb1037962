# SPDX-License-Identifier: Apache-2.0
"""Private training with torch: what a person adds, in which order, and that it goes on."""

import importlib
import io
import math
import shutil
import sys
import threading
import warnings

import numpy as np
import pytest
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

import lownoise as ln
import torch
from lownoise.errors import FileError, LedgerError, PlanError, StreamError
from lownoise.privacy import Ledger
from lownoise.streams import journal
from lownoise.torch import PrivateOptimizer, optimizer, plan
from lownoise.torch.optimizer import clipped_sum
from refusals import one_line

PEOPLE, BATCH, EPOCHS = 24, 8, 2


def linear(features=3):
    model = torch.nn.Linear(features, 1, dtype=torch.float64)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    return model


def records(seed=1, count=PEOPLE):
    bits = torch.Generator().manual_seed(seed)
    X = torch.randn((count, 3), generator=bits, dtype=torch.float64)
    return X, X.sum(dim=1, keepdim=True)


def planned(model, **asked):
    given = {
        "people": PEOPLE,
        "batch": BATCH,
        "epochs": EPOCHS,
        "clip": 1.0,
        "budget": ln.zcdp(0.5),
        **asked,
    }
    return plan(model, **given)


class Training:
    """A model, its optimiser and its batches."""

    def __init__(self, data=None, people=None, model=None, strategy="banded", **places):
        self.model = linear() if model is None else model
        self.plan = planned(self.model, strategy=strategy, memory=2)
        self.batches = self.plan.loader(data or records(), people)
        sgd = torch.optim.SGD(self.model.parameters(), lr=0.5, momentum=0.5)
        self.optimizer = PrivateOptimizer(sgd, self.plan, self.model, self.batches, **places)

    def gradients(self, batch):
        x, y = batch
        errors = (self.model(x) - y).detach()
        return [errors[:, :, None] * x[:, None, :], errors]

    def steps(self, count):
        for _ in range(count):
            self.optimizer.step(self.gradients(next(iter(self.batches))))
        return self

    @property
    def weights(self):
        return torch.cat([p.detach().flatten() for p in self.model.parameters()]).tolist()

    def checkpoint(self):
        own = {"model": self.model.state_dict(), "private": self.optimizer.state_dict()}
        return {name: _copied(value) for name, value in own.items()}

    def load(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["private"])
        return self


def _copied(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "l", "d", ln.zcdp(0.5), reading="zcdp")


def test_opacus_gradients_are_clipped_summed_and_learned_from():
    """Digits: at this budget noise leaves an accuracy far above chance.

    Of 1,797 records a guess is right with a chance of a tenth; 0.6 is 70 of its deviations above.
    """
    # here, because both are slow to import and every worker collects this file
    from opacus import GradSampleModule
    from sklearn.datasets import load_digits

    X, y = (torch.tensor(own, dtype=torch.float32) for own in load_digits(return_X_y=True))
    torch.manual_seed(0)
    model = GradSampleModule(torch.nn.Linear(64, 10), loss_reduction="sum")
    own = plan(model, people=len(X), batch=200, epochs=6, clip=1.0, budget=ln.approx_dp(8, 1e-5))
    batches = own.loader((X / 16, y.long()))
    inner = torch.optim.SGD(model.parameters(), lr=2.0)
    optimizer = PrivateOptimizer(inner, own, model, batches)
    loss = torch.nn.CrossEntropyLoss(reduction="sum")
    with warnings.catch_warnings():
        # of hooks on a module whose inputs need no gradient, by Opacus' own design
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        for _ in range(6):
            for x, target in batches:
                optimizer.zero_grad()
                loss(model(x), target).backward()
                optimizer.step()
    assert optimizer.round == own.rounds == 54
    with torch.no_grad():
        assert float((model(X / 16).argmax(dim=1) == y).double().mean()) > 0.6


def test_a_step_is_the_clipped_sum_plus_the_noise_and_no_more(monkeypatch):
    training = Training(strategy="identity")
    batch = next(iter(training.batches))
    gradients = training.gradients(batch)
    rows = torch.cat([g.reshape(len(g), -1) for g in gradients], dim=1).numpy()
    clipped = rows * np.minimum(1, 1 / np.linalg.norm(rows, axis=1))[:, None]
    step, seen = training.plan.increments.mechanism.step, []
    own = training.optimizer.run._noise.add

    def added(values):
        before = values.copy()
        own(values)
        seen.extend([before, values.copy()])

    monkeypatch.setattr(training.optimizer.run._noise, "add", added)
    training.optimizer.step(gradients)
    exact, noisy = seen
    assert np.array_equal(exact, np.rint(exact))
    assert np.allclose(exact * step, clipped.sum(axis=0), rtol=0, atol=step)
    assert np.abs(noisy - exact).max() > 1000
    assert np.allclose(training.weights, -0.5 * noisy * step / BATCH, rtol=1e-12)


@pytest.mark.parametrize(
    "row",
    [
        [3.0, 4.0],
        [1e-320, 0.0],
        [1e300, -1e300],
        [math.nan, 0.0],
        [math.inf, 1.0],
        [1e155, 1e155],
        [1e119, 1e119],
        [0.6, 0.8],
        [-0.0, 0.0],
    ],
)
def test_one_person_moves_a_sum_by_at_most_the_clip_and_nobody_elses(row):
    others = [[0.3, 0.1], [5.0, -2.0]]
    own = torch.tensor([*others, row], dtype=torch.float64)
    rest = torch.tensor(others, dtype=torch.float64)
    moved = clipped_sum([own], np.arange(3), 1.0) - clipped_sum([rest], np.arange(2), 1.0)
    assert np.linalg.norm(moved) <= 1 + 1e-15
    length = math.hypot(*row)
    expected = min(length, 1.0) if length < 2.0**400 else 0.0
    assert np.linalg.norm(moved) == pytest.approx(expected, rel=1e-12)
    # with two records of that person, and two of another
    own = torch.tensor([*others, row, row], dtype=torch.float64)
    whole = clipped_sum([own], np.array([0, 0, 1, 1]), 1.0)
    moved = whole - clipped_sum([rest], np.array([0, 0]), 1.0)
    assert np.linalg.norm(moved) <= 1 + 1e-15


def test_lengths_are_those_of_all_parameters_and_records_of_a_person_together():
    bits = torch.Generator().manual_seed(2)
    parts = [torch.randn((6, *shape), generator=bits) for shape in ((4, 3), (5,), ())]
    owners = np.array([0, 0, 0, 1, 2, 2])
    rows = torch.cat([p.reshape(6, -1) for p in parts], dim=1).double().numpy()
    expected = np.zeros(18)
    for person in range(3):
        vector = rows[owners == person].sum(axis=0)
        expected += vector * min(1, 0.7 / np.linalg.norm(vector))
    assert np.allclose(clipped_sum(parts, owners, 0.7), expected, rtol=1e-12)


def test_everybody_is_in_one_batch_of_each_epoch_whoever_else_is_there():
    X, y = records(count=40)
    people = np.random.default_rng(0).integers(0, PEOPLE - 1, 40)  # and one place is empty
    own = planned(linear())
    batches = own.loader((X, y), people)
    met = []
    for at in range(own.rounds):
        batches.go(at)
        rows = batches._order[batches._rows(at)]
        met.append(set(people[rows].tolist()))
        assert len(met[-1]) <= BATCH
        assert len(set(batches.owners.tolist())) == len(met[-1])
    assert met[:3] == met[3:]
    assert [sum(person in group for group in met[:3]) for person in range(PEOPLE)] == [
        int(person in people) for person in range(PEOPLE)
    ]
    # without one person's records the others are where they were
    left = people != people[0]
    fewer = own.loader((X[left], y[left]), people[left])
    for at in range(3):
        fewer.go(at)
        assert set(people[left][fewer._order[fewer._rows(at)]].tolist()) == met[at] - {people[0]}


def test_the_noise_hides_as_many_batches_of_as_many_people_as_the_loader_gives():
    for people, batch, epochs in ((24, 8, 2), (25, 8, 3), (5, 5, 2), (7, 2, 1)):
        own = planned(linear(), people=people, batch=batch, epochs=epochs)
        batches, met = own.loader(records(count=people)), {}
        for at in range(own.rounds):
            batches.go(at)
            for person in batches._order[batches._rows(at)].tolist():
                met.setdefault(person, []).append(at)
            assert len(batches.owners) <= own.increments.mechanism.people
        hidden = own.increments.mechanism.participation
        for rounds in met.values():
            assert len(rounds) == epochs <= hidden.count
            assert set(np.diff(rounds)) <= {hidden.separation}
        assert len(met) == people
        assert hidden.pattern == ("spaced" if epochs > 1 else "any")


def test_the_order_of_places_is_the_same_in_every_version():
    own = planned(linear(), people=10, batch=4, epochs=1)
    assert own.loader(records(count=10))._order.tolist() == [0, 2, 1, 9, 7, 4, 5, 8, 6, 3]


def test_an_empty_batch_is_a_step_of_noise_alone():
    X, y = records(count=3)
    training = Training(data=(X, y), people=[0, 1, 2]).steps(EPOCHS * 3)
    assert training.optimizer.round == EPOCHS * 3
    assert any(training.weights)
    with pytest.raises(StreamError, match="all 6 rounds are over"):
        training.optimizer.step()


@pytest.mark.parametrize("wrapped", [True, False])
def test_any_other_order_of_data_is_refused(wrapped):
    data = TensorDataset(*records())
    loader = DataLoader(data, batch_size=BATCH, sampler=RandomSampler(data))
    model = linear()
    own = planned(model)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    ways = {True: own.loader, False: lambda given: PrivateOptimizer(sgd, own, model, given)}
    with one_line(PlanError) as caught:
        ways[wrapped](loader)
    assert "sampling" in str(caught.value)


def test_a_step_out_of_order_is_refused_and_nothing_is_published():
    training = Training()
    gradients = training.gradients(records(count=BATCH))
    with pytest.raises(StreamError, match="has no batch yet"):
        training.optimizer.step(gradients)
    batch = next(iter(training.batches))
    with pytest.raises(StreamError, match="no gradient of each record"):
        training.optimizer.step()
    with pytest.raises(StreamError, match="other shapes"):
        training.optimizer.step([g[1:] for g in gradients])
    with pytest.raises(StreamError, match="other shapes"):
        training.optimizer.step(gradients[:1])
    assert training.optimizer.round == 0
    training.optimizer.step(training.gradients(batch))
    with pytest.raises(StreamError, match="has no batch yet"):
        training.optimizer.step(gradients)
    batches = iter(training.batches)
    next(batches)
    with pytest.raises(StreamError, match="has had no step"):
        next(batches)


@pytest.mark.parametrize("strategy", ["identity", "banded", "rational"])
def test_a_checkpoint_goes_on_bit_for_bit(strategy, tmp_path, ledger):
    first = Training(strategy=strategy, path=tmp_path / "j", ledger=ledger).steps(2)
    state = first.checkpoint()
    whole = first.steps(4).weights
    # the same batches again, with the same sums: what was published is published again
    again = Training(strategy=strategy, path=tmp_path / "j", ledger=ledger).load(state)
    assert again.optimizer.round == 2
    assert again.steps(4).weights == whole
    assert [(e.state, e.relation) for e in ledger.entries()] == [("settled", "add_remove")]


def test_noise_of_one_round_never_hides_two_sums(tmp_path):
    training = Training(path=tmp_path / "j").steps(1)
    state = training.checkpoint()
    training.steps(1)
    other = Training(data=records(seed=2), path=tmp_path / "j").load(state)
    before = other.weights
    with pytest.raises(StreamError, match="round=2 was begun before with other sums"):
        other.steps(1)
    assert other.weights == before
    assert other.optimizer.round == 1
    # nor does a run that does not say where it is
    with pytest.raises(StreamError, match="round=1 was begun before with other sums"):
        Training(data=records(seed=3), path=tmp_path / "j").steps(1)


@pytest.mark.parametrize("moment", ["journal", "ledger", "noise"])
def test_a_crash_within_a_step_repeats_it_and_nothing_else(moment, tmp_path, ledger, monkeypatch):
    where = {"path": tmp_path / "j", "ledger": ledger}
    training = Training(**where).steps(1)
    state = training.checkpoint()

    class CrashError(Exception):
        pass

    def crash(*_, **__):
        raise CrashError

    with monkeypatch.context() as patch:
        owner, name = {
            "journal": (journal, "_chain"),
            "ledger": (Ledger, "stream_moved"),
            "noise": (journal.IncrementNoise, "add"),
        }[moment]
        patch.setattr(owner, name, crash)
        with pytest.raises(CrashError):
            training.steps(1)
    assert training.optimizer.round == 1
    if moment != "journal":  # it is begun, though nobody has seen it
        with pytest.raises(StreamError, match="begun before with other sums"):
            Training(data=records(seed=2), **where).load(state).steps(1)
    mended = Training(**where).load(state).steps(2).weights
    assert Training(**where).load(state).steps(2).weights == mended
    # the process that lived goes on, too
    assert training.steps(2).weights == mended


def test_an_old_copy_of_a_journal_is_refused_by_the_ledger(tmp_path, ledger):
    training = Training(path=tmp_path / "j", ledger=ledger).steps(1)
    state = training.checkpoint()
    shutil.copy(tmp_path / "j", tmp_path / "copy")
    training.steps(1)
    with pytest.raises(LedgerError, match="stands elsewhere"):
        Training(data=records(seed=2), path=tmp_path / "copy")
    shutil.copy(tmp_path / "copy", tmp_path / "j")
    with pytest.raises(LedgerError, match="stands elsewhere"):
        training.load(state)
    with pytest.raises(StreamError, match="is behind this run"):
        training.steps(1)


def test_a_checkpoint_of_another_run_or_altered_is_refused(tmp_path):
    training = Training(path=tmp_path / "j").steps(2)
    state = training.checkpoint()
    other = Training(path=tmp_path / "k").steps(1)
    with pytest.raises(StreamError, match="is not of the run in file"):
        other.load(state)
    state["private"]["noise"]["kept"][0, 0] += 1
    with pytest.raises(StreamError, match="or was altered"):
        training.load(state)
    with pytest.raises(StreamError, match="is none of a private run"):
        training.optimizer.load_state_dict({"state": {}})
    alone = Training().steps(1)
    with pytest.raises(StreamError, match="has no journal"):
        alone.optimizer.state_dict()
    with pytest.raises(StreamError, match="has no journal"):
        alone.optimizer.load_state_dict(state["private"])


def test_another_model_is_refused(tmp_path):
    training = Training(path=tmp_path / "j").steps(1)
    wide = linear(features=4)
    sgd = torch.optim.SGD(wide.parameters(), lr=0.1)
    with pytest.raises(PlanError, match="give the model that was planned for"):
        PrivateOptimizer(sgd, training.plan, wide, training.batches)
    with pytest.raises(PlanError, match="parameters that the model lacks"):
        PrivateOptimizer(sgd, training.plan, training.model, training.batches)
    own = planned(wide)
    data = torch.zeros((PEOPLE, 4)), torch.zeros((PEOPLE, 1))
    with pytest.raises(FileError, match="of another model or plan"):
        PrivateOptimizer(sgd, own, wide, own.loader(data), path=tmp_path / "j")


def test_a_run_that_would_overspend_is_refused_before_anything(tmp_path):
    ledger = Ledger.create(tmp_path / "l", "d", ln.zcdp(0.4), reading="zcdp")
    with pytest.raises(LedgerError, match="too little"):
        Training(path=tmp_path / "j", ledger=ledger)
    assert not (tmp_path / "j").exists()
    assert ledger.entries() == []


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"people": 0}, "people=0 is no whole number"),
        ({"batch": 25}, "batch=25 is more than there are people"),
        ({"epochs": 1.5}, "epochs=1.5 is no whole number"),
        ({"momentum": 1.0}, "momentum=1.0 is out of range"),
        ({"clip": -1.0}, "clip=-1.0 is out of range"),
        ({"strategy": "poisson"}, "strategy='poisson' is unknown"),
    ],
)
def test_what_is_planned_wrongly_is_one_clear_line(asked, says):
    with one_line(PlanError) as caught:
        planned(linear(), **asked)
    assert says in str(caught.value)


@pytest.mark.parametrize("people", [[0] * 23, [0.5] * 24, [-1] * 24, [24] * 24])
def test_places_that_do_not_fit_are_refused(people):
    with pytest.raises(PlanError, match="people"):
        planned(linear()).loader(records(), people)


def test_more_records_than_places_are_said_to_be_that():
    with pytest.raises(PlanError, match=r"more records than people=24; .* whose each record is"):
        planned(linear()).loader(records(count=25))


def test_what_takes_the_size_of_a_batch_into_gradients_is_refused():
    """Opacus' module does so where it is not told that the loss is a sum."""
    model = linear()
    own = planned(model)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    model.loss_reduction = "sum"
    assert PrivateOptimizer(sgd, own, model, own.loader(records())).round == 0
    model.loss_reduction = "mean"
    with pytest.raises(PlanError, match='give GradSampleModule loss_reduction="sum"'):
        PrivateOptimizer(sgd, own, model, own.loader(records()))


def test_a_run_shows_itself_in_a_line():
    training = Training()
    assert repr(training.plan) == (
        "<TrainingPlan: 4 parameters in 6 steps of 8 people, planned under 0.5-zCDP; error "
        f"{training.plan.error:.3g} clips>"
    )
    next(iter(training.batches))
    training.optimizer.step([torch.zeros(8, 1, 3), torch.zeros(8, 1)])
    assert repr(training.batches) == "<Batches: 3 an epoch, after 1 of 6 steps>"
    assert repr(training.optimizer) == "<PrivateOptimizer: SGD after 1 of 6 steps, 0.5-zCDP>"


def test_a_plan_says_what_a_run_will_be():
    said = str(planned(linear(), epochs=1, strategy="identity"))
    for words in ("4 parameters of 2 tensors", "3, of at most 8 people", "one round only", "1-GDP"):
        assert words in said
    noisy = planned(linear(), momentum=0.9)
    assert noisy.strategy in ("identity", "banded")
    assert noisy.cost.mu <= 1


def test_without_torch_its_room_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"install lownoise\[torch\]"):
        importlib.reload(sys.modules["lownoise.torch"])


def test_what_is_trained_later_without_noise_is_refused():
    training = Training()
    batch = next(iter(training.batches))
    late = torch.nn.Parameter(torch.zeros(1))
    late.grad = torch.ones(1)  # as backward() leaves it, of records and without noise
    training.optimizer.param_groups.append({**training.optimizer.param_groups[0], "params": [late]})
    with pytest.raises(PlanError, match="parameters that the model lacks"):
        training.optimizer.step(training.gradients(batch))
    assert training.optimizer.round == 0
    assert not late.any()


def test_a_batch_is_of_one_round_whatever_threads_step(monkeypatch):
    training = Training()
    gradients = training.gradients(next(iter(training.batches)))
    own, refused = optimizer.clipped_sum, []

    def step():
        try:
            training.optimizer.step(gradients)
        except StreamError as error:
            refused.append(str(error))

    other = threading.Thread(target=step)

    def clipped(*given):
        if threading.current_thread() is not other:
            other.start()
            other.join(0.5)  # it waits for this step, or takes the same batch again
        return own(*given)

    monkeypatch.setattr(optimizer, "clipped_sum", clipped)
    step()
    other.join()
    assert training.optimizer.round == 1
    assert len(refused) == 1
    assert "has no batch yet" in refused[0]


@pytest.mark.parametrize(
    "layer",
    [
        torch.nn.BatchNorm1d(4),
        torch.nn.BatchNorm1d(4, track_running_stats=False),
        torch.nn.InstanceNorm1d(4, affine=True, track_running_stats=True),
    ],
)
def test_a_model_that_mixes_records_is_refused(layer):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), layer, torch.nn.Linear(4, 1))
    with one_line(PlanError, match=rf"has '1', a {type(layer).__name__}, in"):
        planned(model)


def test_a_model_that_looks_at_each_record_alone_is_planned():
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 4),
        torch.nn.LayerNorm(4),
        torch.nn.GroupNorm(2, 4),
        torch.nn.Linear(4, 1),
    )
    assert planned(model).rounds == 2 * PEOPLE // BATCH


def test_an_optimiser_that_asks_for_losses_again_is_refused():
    model = linear()
    own = planned(model)
    with pytest.raises(PlanError, match="LBFGS"):
        PrivateOptimizer(torch.optim.LBFGS(model.parameters()), own, model, own.loader(records()))
