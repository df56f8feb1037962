# SPDX-License-Identifier: Apache-2.0
"""A keeper's answer in forked children that die at a step; prints what is left, as JSON.

A program of its own, because a process that forks must not have opened a database.
"""

import json
import sys
import warnings
from pathlib import Path

import befallen

FILES = ("local_model/keeper", "numbers/locked", "device", "local_model/grid")
LINES = ("randomize", "_transaction")


def main(folder):
    from lownoise import device

    text = (folder / "plan.json").read_text()
    template = (folder / "template").read_bytes()
    plan = device.read(text)

    def fresh(name):
        """Return a keeper that knows nothing, in a folder of its own."""
        own = folder / name
        own.mkdir()
        (own / "answers").write_bytes(template)
        return own / "answers"

    def answer(path):
        def job(say):
            keeper = device.Keeper(path)
            keeper.adopt()  # the template is another file
            return keeper.randomize(plan, [0.5, 0.5, 0.5], person="Ada").to_json()

        return job

    counted = befallen.Steps(FILES, LINES)
    code, said = befallen.heard(befallen.child(counted.during(answer(fresh("counted")))))
    assert code == 0, said
    names = said[-1]
    begun = []
    for at in range(1, len(names) + 1):
        path = fresh(f"at{at}")
        dying = befallen.Steps(FILES, LINES, at, befallen.die).during(answer(path))
        begun.append((at, path, befallen.heard(befallen.child(dying))))
    facts = []
    for at, path, (code, said) in begun:  # no child is forked any more
        keeper = device.Keeper(path)
        keeper.adopt()
        spent = keeper.spent("Ada").epsilon
        later = [keeper.randomize(plan, [-1.0, 0.0, 1.0], person="Ada").to_json() for _ in "ab"]
        after = keeper.spent("Ada").epsilon
        facts.append(
            {"at": names[at - 1], "code": code, "said": said, "spent": spent, "after": after}
            | {"one": later[0] == later[1]}
        )
    return facts


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
