# SPDX-License-Identifier: Apache-2.0
"""What every test runs under."""

import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import tiers

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # of a clock: a loaded machine would fail it
)
settings.load_profile("ci")

STARTS = {}
MEMORY = Path("/dev") / "shm"  # where files need wait for no disk: no test takes the power away
ROOM = 2**31  # bytes that have to be free there
SELDOM = 50_000  # objects that are made between two looks for cycles, not 700

if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
    free = os.statvfs(MEMORY)
    if free.f_bavail * free.f_frsize > ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # to be asked again


@pytest.fixture(scope="session", autouse=True)
def _own_cache_folder(tmp_path_factory):
    """Tests find no fit that others kept, and leave none behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Look for no cycles while modules and cases are made, which stay, nor among those later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(SELDOM)
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` leaves any out
def pytest_collection_modifyitems(config, items):
    """Mark the further cases of grids."""
    for item in tiers.swept(items):
        item.add_marker("sweep")
    config.stash[tiers.COLLECTED] = list(items)


def pytest_collection_finish(session):
    """Remember where each test module's own generators stand before any test has drawn."""
    for module in {item.getparent(pytest.Module) for item in session.items} - {None}:
        own = [g for g in vars(module.obj).values() if isinstance(g, np.random.Generator)]
        STARTS[module.obj.__name__] = [(g.bit_generator, g.bit_generator.state) for g in own]


@pytest.fixture(autouse=True)
def _same_draws_in_any_order(request):
    """Every test draws what it would draw alone."""
    if isinstance(request.node, pytest.Function):
        for generator, state in STARTS[request.module.__name__]:
            generator.state = state
