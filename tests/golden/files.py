# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.golden.files --write`: what is read from the files of each version, in an index.

Written once for each file; every commit after it reads the same, and `--write` adds what is new.
What does not verify is a truth of its version and stands in the index as that.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from tests.golden import accessors
from tests.golden.make_files import FOLLOWED, values

import lownoise as ln

FILES = Path(__file__).parent / "files"
INDEX = FILES / "index.json"
LITTLE = {
    "Zcdp": ln.zcdp(0.01),
    "ApproxDP": ln.approx_dp(0.01, 1e-9),
    "PureDP": ln.pure_dp(0.01),
}
ROUNDS = 3  # of a stream, that are answered after it is opened


def names():
    """Return every file, or folder of a release, as `version/name`."""
    return sorted(
        f"{version.name}/{path.name}"
        for version in FILES.iterdir()
        if version.is_dir()
        for path in version.iterdir()
    )


def index():
    """Return what is stored of each file."""
    return json.loads(INDEX.read_text())


def read(name, folder):
    """Return what is read from a copy of a file, which is left in `folder`."""
    return read_copy(_copy(FILES / name, folder), FILES / name)


def read_copy(path, source):
    """Return what is read from a file that may be changed, beside which others of `source` lie."""
    kind = path.name.rpartition(".")[2]
    if kind == "json" or path.is_dir():
        return _document(path)
    if kind == "stream":
        return _stream(path, source)
    return {"state": _state, "ledger": _ledger, "toml": _spec}[kind](path)


def _copy(source, folder):
    copy = Path(folder) / source.name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        shutil.copy(source, copy)
    return copy


def _document(path):
    made = accessors.read_document(path)
    verified, failing = accessors.verified(path)
    found = {
        "kind": accessors.kind(made),
        "verified": verified,
        "failing checks": failing,
        **_stated(made if "Plan" in type(made).__name__ else made.terms),
    }
    if path.is_dir():
        found["estimate"] = [x.ravel().tolist() for _, x in made.marginals()]
    elif hasattr(made, "estimate"):
        found["estimate"] = made.estimate.tolist()
    if hasattr(made, "integers"):
        found["integers"] = [str(k) for k in made.integers]
        found["spend"] = made.spend and [made.spend.dataset, made.spend.number]
    return found


def copied(name, folder):
    """Return a document as this version writes it again, in a new folder; None of other files."""
    if not name.endswith(".json") and not (FILES / name).is_dir():
        return None
    made, path = accessors.read_document(FILES / name), Path(folder) / Path(name).name
    if hasattr(made, "save"):
        made.save(path)
    return path


def _stated(made):
    return {
        "charge": accessors.charge(made),
        "event": list(accessors.event(made)),
        "radius": accessors.radius(getattr(made, "terms", made)),
        "bounds": accessors.bounds(made),
    }


def _stream(path, source):
    ledger = None
    if path.stem == FOLLOWED:
        ledger = ln.Ledger(_copy(source.with_name("paid.ledger"), path.parent), "people")
    stream = accessors.opened(path, ledger)
    found = _going_on(stream)
    again = accessors.opened(path, ledger)
    return {**found, "round after opening again": again.round}


def _state(path):
    return _going_on(ln.Stream.restore(path.read_bytes()))


def _going_on(stream):
    found = {
        "kind": stream.strategy,
        "round": stream.round,
        "rounds": stream.rounds,
        **_stated(stream),
    }
    answers = stream.update_many(values(stream, ROUNDS))
    return {**found, "next": np.asarray(answers).ravel().tolist()}


def _ledger(path):
    found = {}
    for dataset in ln.Ledger.datasets(path):
        account = ln.Ledger(path, dataset)
        entries = [
            [e.id, type(e.event).__name__, e.state, e.note, e.relation] for e in account.entries()
        ]
        found[dataset] = {
            "budget": str(account.budget()),
            "spent": str(account.spent()),
            "reading": str(account.reading()),
            "remaining": account.remaining(),
            "entries": entries,
        }
        try:
            more = account.charge(LITTLE[type(account.budget()).__name__], "one more")
        except ln.errors.LedgerError:
            more = "refused"
        found[dataset]["next spend"] = more
        found[dataset]["spent then"] = str(account.spent())
    return found


def _spec(path):
    return {"kind": path.stem, **_stated(accessors.planned_by(path))}


def main():
    """Add to the index what is read from files that are not in it, and write no other row."""
    found = index()
    for name in sorted(set(names()) - found.keys()):
        with tempfile.TemporaryDirectory() as folder:
            found[name] = read(name, folder)
    rows = (f"{json.dumps(name)}: {json.dumps(own)}" for name, own in sorted(found.items()))
    INDEX.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
