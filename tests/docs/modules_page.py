# SPDX-License-Identifier: Apache-2.0
"""Print the page of modules: each room from the top floor down, each module by its first line."""

import ast
import configparser
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "lownoise"
HEAD = """# Modules

Every room of `src/lownoise` from the top floor down, and in it every module by the first line of
its own text. Imports go down only, or stay in the room; rooms on one line are of one floor.
[Architecture](architecture.md) says why. This page is written by `make modules`.
"""


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text, f"{path} does not say what it is"
    return text.splitlines()[0].replace("|", "\\|")


def floors() -> list[list[str]]:
    """Return the rooms of each floor, the top one first."""
    declared = configparser.ConfigParser()
    declared.read(ROOT / ".importlinter")
    layers = declared["importlinter:contract:floors"]["layers"].split("\n")
    return [[room.strip() for room in layer.split("|")] for layer in layers if layer.strip()]


def modules(room: Path) -> list[str]:
    """Return a row for each module of a room, those of rooms inside it by their folders' names."""
    found = []
    for path in sorted(
        room.rglob("*.py"), key=lambda p: (p.parent.parts, p.name != "__init__.py", p)
    ):
        name = path.relative_to(room).with_suffix("").as_posix()
        if name == "__init__":
            continue
        name = f"{name.removesuffix('/__init__')}/" if name.endswith("/__init__") else name
        found.append(f"| `{name}` | {first_line(path)} |")
    return found


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for floor in floors():
        parts.append(f"## {' · '.join(floor)}\n")
        for room in floor:
            path = SOURCE / room
            if not path.is_dir():
                parts.append(f"`{room}.py`: {first_line(path.with_suffix('.py'))}\n")
                continue
            about = first_line(path / "__init__.py")
            rows = "\n".join(["| module | what it is |", "|---|---|", *modules(path)])
            parts.append(f"`{room}/`: {about}\n\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
