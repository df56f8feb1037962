# SPDX-License-Identifier: Apache-2.0
"""What every table of a file is checked by: strictly, all mistakes at once, each with its path."""

from __future__ import annotations

import tomllib
from abc import abstractmethod
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from lownoise.errors import SpecError, quoted
from lownoise.errors.credentials import bare, names_a_secret
from lownoise.planning import plan
from lownoise.privacy.shared import MOST_USES
from lownoise.privacy.units import MOST_ROWS, OF_UNITS
from lownoise.release.comparison import GAUSSIAN, WHOLE, names
from lownoise.sensitivity.relations import SUBSTITUTE, word_of
from lownoise.spec.declared import declared_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from lownoise.planning import Plan
    from lownoise.privacy import Budget
    from lownoise.sets.domains import AbstractDomain
    from lownoise.solvers import Progress

VERSION = 1  # of specifications, where they say one; see docs/file-versions.md
_TEXT = "said"
_ENDS = {  # pydantic's names of a number beyond an end: what is asked for, and what holds the end
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}

_OTHER_WORDS = {"min": "lower", "max": "upper", "minimum": "lower", "maximum": "upper"}

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Strict(BaseModel):
    """A table that has no fields but those that are named."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _named(name: object, *, of_means: bool = False) -> object:
    # of means, those of lists of points have noise in whole numbers
    known = (GAUSSIAN, *names(of_means=of_means), *(WHOLE if of_means else ()))
    if name is not None and (not isinstance(name, str) or name not in known):
        raise mistake_text(f"is no mechanism; give one of {', '.join(known)}")
    return name


Mechanism = Annotated[str | None, PlainValidator(_named)]
MeanMechanism = Annotated[str | None, PlainValidator(partial(_named, of_means=True))]


def declared(fields: object) -> AbstractDomain | None:
    """Return the domain of a table, or every mistake in it, each with its path."""
    domain, mistakes = declared_domain(fields)
    if not mistakes:
        return domain
    raise mistaken((mistake.path, mistake.text, mistake.value) for mistake in mistakes)


def _of_a_total(given: object) -> object:
    """Return a domain, or the numbers, whose count `plan` checks."""
    if isinstance(given, dict):
        return declared(given)
    for own in given if isinstance(given, list) else [given]:
        if isinstance(own, bool) or not isinstance(own, (int, float)):
            raise mistake_text("is no number, no list of them and no table of a domain")
    return given


class AskedSpec(Strict):
    """What every question says: what a neighbour is, and the norm of the error."""

    relation: Annotated[Literal["substitute", "add_remove"], AfterValidator(word_of)]
    order: Annotated[float, Field(ge=2, strict=True)] = 2.0
    uses: Annotated[int, Field(ge=1, le=MOST_USES, strict=True)] | None = None
    privacy_unit: Annotated[str, Field(min_length=1)] | None = None
    unit_total: Annotated[Any, PlainValidator(_of_a_total)] = None
    rows_per_unit: Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True)] | None = Field(
        default=None, validate_default=True
    )
    order_by: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    null_unit: Literal["drop", "one"] = "drop"
    size: Annotated[int, Field(ge=1, le=10**12, strict=True)] | None = Field(
        default=None, validate_default=True
    )

    @field_validator("unit_total", "rows_per_unit", "order_by", "null_unit")
    @classmethod
    def _of_a_unit(cls, given: Any, info: ValidationInfo) -> Any:  # noqa: ANN401 (any of the three)
        unit, name = info.data.get("privacy_unit"), info.field_name
        if unit is None and given not in (None, (), "drop"):
            raise ValueError("needs privacy_unit; give the column that identifies people")
        bounded = info.data.get("unit_total") is not None
        if unit is not None and name == "rows_per_unit" and given is None and not bounded:
            raise ValueError("is missing; give the number of rows that count of one person")
        return given

    @field_validator("size")
    @classmethod
    def _public_or_private(cls, size: int | None, info: ValidationInfo) -> int | None:
        relation = info.data.get("relation")
        if relation is None:  # a mistake of its own
            return size
        if info.data.get("privacy_unit") is not None:
            if size is not None:
                raise ValueError(
                    "would be a number of rows, which is private with privacy_unit; leave it out"
                )
            return size
        if not relation.counted and size is None:
            raise ValueError("is missing; substitute needs the public number of records")
        if relation.counted and size is not None:
            raise ValueError("is private under add_remove; leave it out")
        return size

    @staticmethod
    def public_size(info: ValidationInfo) -> bool:
        """Return whether the number of rows is public, so that none may be left out."""
        of_units = info.data.get("privacy_unit") is not None
        return info.data.get("relation") is SUBSTITUTE and not of_units

    @abstractmethod
    def asked(self) -> Any:  # noqa: ANN401 (each kind its own)
        """Return the question.

        Raises:
            LownoiseError: where the parts do not fit together.
        """

    def error_weights(self) -> list[float] | str | None:
        """Return what one unit of each answer's error matters, where the question has none."""
        return None

    def options(self) -> dict[str, Any]:
        """Return what `plan` takes of this question alone, where it is asked beside others."""
        names = [own for own in _PASSED if own in type(self).model_fields and own not in _OF_ALL]
        given = {name: getattr(self, name) for name in names}
        return {
            n: v for n, v in {**given, "weights": self.error_weights()}.items() if v is not None
        }

    def plan(self, budget: Budget, progress: Callable[[Progress], None] | None) -> Plan:
        """Return the plan; no data are read.

        Raises:
            LownoiseError: where the parts do not fit together.
        """
        names = [name for name in _PASSED if name in type(self).model_fields]
        given = {name: getattr(self, name) for name in names}
        weights = self.error_weights()
        return plan(self.asked(), budget=budget, progress=progress, weights=weights, **given)


_OF_ALL = ("relation", "size", "uses", *OF_UNITS)  # questions
_PASSED = ("order", "mechanism", "count_share", "unit_total", *_OF_ALL)  # as `plan` calls them
_Model = TypeVar("_Model", bound=Strict)


def mistake_text(text: str) -> PydanticCustomError:
    """Return a mistake in words that are shown as they are, such as a constructor's."""
    return PydanticCustomError(_TEXT, "{said}", {"said": text})


def mistaken(mistakes: Iterable[tuple[tuple[str | int, ...], str, object]]) -> ValidationError:
    """Return mistakes as one error: of each its path from here, its text and what was found."""
    details = [
        InitErrorDetails(type=mistake_text(text), loc=path, input=value)
        for path, text, value in mistakes
    ]
    return ValidationError.from_exception_data("declared", details)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the fields of a TOML file, less its version.

    Raises:
        SpecError: where it cannot be read, or is of a newer version.
    """
    shown = bare(str(path))  # as a whole: it may have several lines, and a password in the last
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(
            f"spec={shown} cannot be read ({error.strerror}); give the path of a TOML file",
        ) from None
    except RecursionError:
        raise SpecError(f"spec={shown} is nested too deep; use fewer levels") from None
    except ValueError as error:  # of its syntax, its encoding, or a number too long to read
        raise SpecError(f"spec={shown} is not TOML: {error}") from None
    version = fields.pop("version", VERSION)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SpecError(f"spec={path}: version is no whole number; give version = {VERSION}")
    if version > VERSION:
        raise SpecError(
            f"spec={path}: version={version} is newer than this lownoise, which reads up to "
            f"version {VERSION}; upgrade lownoise",
        )
    return fields


def checked(kind: type[_Model], fields: object, path: Path, context: dict[str, Any]) -> _Model:
    """Return the fields of a file as a model.

    Args:
        kind: the model.
        fields: what the file holds.
        path: the file.
        context: what validators need to know of the file as a whole.

    Raises:
        SpecError: with every mistake, one a line.
    """
    try:
        return kind.model_validate(fields, context=context)
    except ValidationError as error:
        mistakes = "\n".join(f"  {_mistake(d)}" for d in error.errors())
        raise SpecError(f"spec={path} has {_count(error.error_count())}:\n{mistakes}") from None


def _count(mistakes: int) -> str:
    return "a mistake" if mistakes == 1 else f"{mistakes} mistakes"


def _mistake(detail: ErrorDetails) -> str:
    place = ".".join(str(p) for p in detail["loc"]) or "top level"
    place = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in place)
    given = detail["input"]
    secret = detail["loc"][:1] == ("data",) or names_a_secret(place)  # it may be
    open_ = isinstance(given, (str, int, float)) and not secret
    shown = f" (found {quoted(given)})" if open_ else ""
    return f"{place}: {mistake_of(detail)}{shown}"


def _fields(table: type[BaseModel]) -> set[str]:
    """Return the names of all fields that a kind of table has, or one that is made of it."""
    return set(table.model_fields).union(*map(_fields, table.__subclasses__()))


def mistake_of(detail: ErrorDetails) -> str:
    """Return what is wrong, without its place."""
    text = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        given = str(detail["loc"][-1])
        known = _fields(Strict)
        near = get_close_matches(given, known, n=1, cutoff=0.7)
        near = [_OTHER_WORDS[given]] if given in _OTHER_WORDS else near
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        text = f"is not a field of a specification{meant}; correct its name, or leave it out"
        if given in known:
            text = "is not a field here, but of another kind or table; leave it out"
    if detail["type"] in _ENDS:
        word, end = _ENDS[detail["type"]]
        text = f"is out of range; give {word} {detail['ctx'][end]:.12g}"
    if detail["type"] == "float_type":
        text = "is not a number; write it without quotes, infinity as inf"
    if detail["type"] in ("model_type", "dict_type"):
        text = "is no table of fields; write { field = value, … }, as { lower = 0, upper = 1 }"
    if detail["type"] != _TEXT:
        text = text[0].lower() + text[1:]
    return text
