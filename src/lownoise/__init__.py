# SPDX-License-Identifier: Apache-2.0
"""Differential privacy with the least noise, certified.

Examples:
    >>> import lownoise as ln
    >>> plan = ln.plan(ln.Mean(["age"], ln.Box([0], [100])), budget=ln.zcdp(0.5),
    ...                relation="substitute", size=1000)
    >>> round(plan.error, 6)
    0.1

Names load when they are first used, so that importing this package costs little; `__init__.pyi`
lists them.
"""

import ast
import warnings
from importlib import import_module
from operator import attrgetter
from pathlib import Path

__version__ = "0.2.0.dev0"

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {
    entry.name: node.module
    for node in _STUB.body
    if isinstance(node, ast.ImportFrom)
    for entry in node.names
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604

# names of 0.1, which 0.3 has no more, and what each is now
_OLD = {
    "Enclosure": "theory.Enclosure",
    "Factorization": "theory.Factorization",
    "Farthest": "theory.Farthest",
    "LinearPlan": "Plan",
    "LinearRelease": "Release",
    "PurePlan": "Plan",
    "PureRelease": "Release",
    "TablePlan": "Plan",
    "TableRelease": "Release",
    "FiniteProblem": "theory.FiniteProblem",
    "OptimalMechanism": "theory.OptimalMechanism",
    "enclose": "theory.enclose",
    "factorize": "theory.factorize",
    "farthest": "theory.farthest",
    "finite_problem": "theory.finite_problem",
    "optimal_mechanism": "theory.optimal_mechanism",
}


def __getattr__(name: str) -> object:
    if name in _OLD:
        text = f"ln.{name} is ln.{_OLD[name]} since 0.2, and 0.3 has it there only"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return attrgetter(_OLD[name])(import_module(__name__))
    if name not in _HOMES:
        raise AttributeError(f"module 'lownoise' has no attribute {name!r}")
    home = _HOMES[name]
    if home == __name__:
        return import_module(f"{home}.{name}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
