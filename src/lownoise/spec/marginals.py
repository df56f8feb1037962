# SPDX-License-Identifier: Apache-2.0
"""The question of a specification that asks for marginals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from lownoise.errors import LownoiseError, QuestionError
from lownoise.questions import Marginals
from lownoise.questions.attributes import attributes
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
        try:
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
            self.asked()
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
