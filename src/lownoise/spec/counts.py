# SPDX-License-Identifier: Apache-2.0
"""The questions of specifications that count records: marginals, linear queries, parities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from lownoise.errors import LownoiseError, QuestionError, quoted
from lownoise.questions import Marginals, Parity, Queries
from lownoise.questions.attributes import attributes, check_labels
from lownoise.questions.wording import called
from lownoise.spec.arrays import numbers_of, read_matrix, read_records
from lownoise.spec.declared import declared_question
from lownoise.spec.model import AskedSpec, Mechanism, Number, mistake_text, mistaken

FOLDER = "folder"


def declared_attributes(given: object, info: ValidationInfo) -> dict[str, Any]:
    """Return names and categories, from a table or from a JSON file beside the specification.

    Raises every mistake in them, each with its path.
    """
    if isinstance(given, str):
        given = _read((info.context or {}).get(FOLDER, Path()) / given)
    if not isinstance(given, dict) or not given:
        raise mistake_text(
            "is no table of attributes; give each its number of categories or a list of them, "
            "or the path of a JSON file that does",
        )
    mistakes = []
    for name, categories in given.items():
        own = f"sizes[{quoted(name)}]"
        try:
            with called({f"{own}=": "", f"{own} ": "", "sizes ": ""}):  # which its path says
                attributes({name: categories})
        except QuestionError as error:
            mistakes.append(((name,), str(error), None))
    if mistakes:
        raise mistaken(mistakes)
    return given


def _read(path: Path) -> object:
    """Return what a JSON file holds; a name that stands twice in it is refused."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        twice.extend(name for i, name in enumerate(names) if name in names[:i])
        return dict(pairs)

    try:
        found: object = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except OSError as error:
        raise mistake_text(
            f"{path} cannot be read ({error.strerror}); give the path of a JSON file",
        ) from None
    except (ValueError, RecursionError):  # of its syntax or its encoding
        raise mistake_text(f"{path} is not JSON; give a mapping from names to categories") from None
    if twice:
        raise mistake_text(f"{path} names {twice[0]!r} twice; name each attribute once")
    return found


class MarginalsSpec(AskedSpec):
    """Which marginals are counted, of which attributes."""

    kind: Literal["marginals"]
    attributes: Annotated[dict[str, Any], PlainValidator(declared_attributes)]
    outside: Literal["drop", "extra"] | dict[str, str | int | float] = Field(
        default="drop", validate_default=True
    )
    way: Annotated[int, Field(ge=0, strict=True)] | None = None
    sets: list[list[str]] | None = None
    ordered: dict[str, Literal["prefix", "range"]] | None = None
    weights: list[Number] | None = None
    mechanism: Mechanism = None

    @field_validator("outside", mode="before")
    @classmethod
    def _declared(cls, outside: object, info: ValidationInfo) -> object:
        """Check each policy by itself, with its attribute."""
        sizes = info.data.get("attributes")
        if sizes is None:  # a mistake there says enough
            return "drop"
        if not isinstance(outside, dict):
            try:
                with called({"sizes": "attributes"}):
                    attributes(sizes, outside)  # type: ignore[arg-type]  # it says what is wrong
            except QuestionError as error:
                raise mistake_text(str(error)) from None
            policies = dict.fromkeys(sizes, outside)
        else:
            mistakes = []
            for name, policy in outside.items():
                try:
                    attributes(
                        {k: v for k, v in sizes.items() if k == name} or sizes, {name: policy}
                    )
                except QuestionError as error:
                    mistakes.append(((name,), str(error), None))
            if mistakes:
                raise mistaken(mistakes)
            policies = {name: outside.get(name, "drop") for name in sizes}
        dropped = [name for name, policy in policies.items() if policy == "drop"]
        if dropped and cls.public_size(info):
            raise mistake_text(
                f'"drop" of {dropped[0]!r} would change the public size; give "extra", or a '
                "category that stands in",
            )
        return outside

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        """Refuse marginals that the attributes do not have, before a budget is looked at."""
        try:
            with called({"sizes": "attributes", "Marginals.": ""}):
                check_labels(self.asked().attributes)
        except LownoiseError as error:
            raise mistake_text(str(error)) from None
        return self

    def asked(self) -> Marginals:
        """Return the question.

        Raises:
            QuestionError: where the parts do not fit together.
        """
        return Marginals(
            self.attributes,
            way=self.way,
            sets=self.sets,
            weights=self.weights,
            outside=self.outside,
            ordered=self.ordered,
        )


def beside(given: str | Path, info: ValidationInfo) -> Path:
    """Return a path that starts from the folder of the specification."""
    folder: Path = (info.context or {}).get(FOLDER, Path())
    return folder / given


def _matrix(given: object, info: ValidationInfo) -> Any:  # noqa: ANN401
    """Return a matrix that is written out, or that stands in a file beside the specification."""
    if isinstance(given, str):
        return read_matrix(beside(given, info))
    rows = given if isinstance(given, list) else []
    even = all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows)
    if not rows or not even or not rows[0]:
        raise mistake_text(
            "is no matrix; give a list of rows of as many numbers each, or the path of a .npy or "
            "CSV file",
        )
    return numbers_of(rows)


def _universe(given: object, info: ValidationInfo) -> object:
    """Return attributes by name, or a list of records, of a file a header and the records."""
    if isinstance(given, list):
        return given
    if isinstance(given, str) and not given.lower().endswith(".json"):
        return read_records(beside(given, info))
    return declared_attributes(given, info)


class QueriesSpec(AskedSpec):
    """A matrix, and the records that its columns stand for."""

    kind: Literal["queries"]
    matrix: Annotated[Any, PlainValidator(_matrix)]
    universe: Annotated[Any, PlainValidator(_universe)]
    columns: list[str] | None = None
    outside: Literal["drop", "extra"] | dict[str, str | int | float] | list[str | int | float] = (
        "drop"
    )
    mechanism: Mechanism = None

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        """Refuse a matrix that the records do not have, before a budget is looked at."""
        _check(self)
        return self

    def asked(self) -> Queries:
        """Return the question.

        Raises:
            QuestionError: where the parts do not fit together.
        """
        universe, columns = self.universe, self.columns
        if isinstance(universe, tuple):  # of a file, whose header has the names
            header, universe = universe
            columns = header if columns is None else columns
        return Queries(self.matrix, universe, columns=columns, outside=self.outside)


class ParitySpec(AskedSpec):
    """Which columns are bits, and how many of them each parity has."""

    kind: Literal["parity"]
    bits: Annotated[list[str], Field(min_length=1)]
    degree: (
        Annotated[int, Field(ge=0, strict=True)]
        | Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=1)]
    )
    weights: list[Number] | None = None
    outside: Any = "drop"
    mechanism: Mechanism = None

    @field_validator("degree", mode="before")
    @classmethod
    def _integers(cls, degree: object) -> object:
        several = degree if isinstance(degree, list) else [degree]
        whole = all(isinstance(k, int) and not isinstance(k, bool) and k >= 0 for k in several)
        if not whole or not several:
            raise mistake_text(
                "is no number of bits; give a whole number from 0, or a list of them"
            )
        return degree

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        """Refuse parities that the bits do not have, before a budget is looked at."""
        _check(self)
        return self

    def asked(self) -> Parity:
        """Return the question.

        Raises:
            QuestionError: where the parts do not fit together.
        """
        return Parity(self.bits, self.degree, weights=self.weights, outside=self.outside)


def _check(spec: QueriesSpec | ParitySpec) -> None:
    """Refuse parts that do not fit together.

    Raises what is wrong, at its path where that is one field's.
    """
    try:
        with called({"sizes": "universe", "Queries.": "", "Parity.": ""}):
            asked = spec.asked()
    except LownoiseError as error:
        raise mistake_text(str(error)) from None
    if spec.size is not None and asked.drops:
        text = '"drop" would change the public size; give what stands in for other values'
        raise mistaken([(("outside",), text, None)])


class DeclaredSpec(AskedSpec):
    """A question from outside, by the fields of its constructor."""

    kind: str
    mechanism: Mechanism = None
    question: Any

    def asked(self) -> Any:  # noqa: ANN401 (what the program that declares it made)
        """Return the question."""
        return self.question


def declared_spec(fields: dict[str, Any]) -> DeclaredSpec:
    """Return the specification of a question of a kind that `QUESTIONS` lets users declare.

    Raises:
        ValidationError: with every mistake, each with its path.
    """
    names = DeclaredSpec.model_fields.keys() - {"kind", "question"}
    own = {name: value for name, value in fields.items() if name in names}
    rest = {name: value for name, value in fields.items() if name not in names}
    question, mistakes = declared_question(rest)
    if mistakes:
        raise mistaken((each.path, each.text, each.value) for each in mistakes)
    return DeclaredSpec.model_validate({**own, "kind": fields["kind"], "question": question})
