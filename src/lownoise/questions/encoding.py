# SPDX-License-Identifier: Apache-2.0
"""The kinds of questions: in documents, in other rooms; and declared attributes ⇄ JSON values."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from lownoise.errors import FileError, quoted
from lownoise.kinds import Form, Kinds
from lownoise.questions.attributes import Attribute, attributes

if TYPE_CHECKING:
    from collections.abc import Sequence


QUESTIONS: Kinds[Any] = Kinds("question")
QUESTION = Form(QUESTIONS.write, lambda fields, _: QUESTIONS.read(fields))


@final
@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a question is in the rooms above its own, given once, on its class.

    A part is an object, or where it stands in this package, as "release.mean_view:MeanView": walls
    keep questions from importing what is above them, and each room asks for its own parts alone.

    Args:
        view: in `release`, the view of terms: names, weights, evidence.
        read: there, how terms are read from a file's fields, by the mechanism's name.
        gaussian: in `planning`, what makes the plan with Gaussian noise of a request.
        pure: there, what gives the builders of plans with each pure noise.
        page: in `report`, what a report says of it.
        codec: how its terms are read from documents of anybody's, a `release.stored.TermsCodec`.
    """

    view: Any
    page: Any
    read: Any = None
    gaussian: Any = None
    pure: Any = None
    codec: Any = "release.stored:TERMS"


class AbstractQuestion(ABC):
    """What is asked of a table."""

    parts: ClassVar[Parts]


def attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as JSON values."""
    categories: Any = attribute.categories
    if attribute.edges is not None:
        categories = {"edges": list(attribute.edges)}
    elif attribute.labels is not None:
        categories = list(attribute.labels)
    return {
        "name": attribute.name,
        "categories": categories,
        "outside": attribute.outside,
        **({"ordered": attribute.ordered} if attribute.ordered else {}),
    }


def schema_from(given: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sizes and the policies of attributes, as a question declares them.

    Args:
        given: what `attribute_to_dict` wrote of each.

    Raises:
        FileError: where a name stands twice.

    Examples:
        >>> schema_from([{"name": "sex", "categories": ["F", "M"], "outside": 2}])
        ({'sex': ['F', 'M']}, {'sex': 'extra'})
    """
    sizes: dict[str, Any] = {}
    outside: dict[str, Any] = {}
    for fields in given:
        name, categories, cell = fields["name"], fields["categories"], fields["outside"]
        (own,) = attributes({name: categories})
        count = own.categories
        sizes[name] = categories
        if cell is None:
            outside[name] = "drop"
        elif cell == count:
            outside[name] = "extra"
        elif not 0 <= cell < count:
            raise FileError(f"question.outside={quoted(cell)} is no category and no policy")
        else:
            outside[name] = cell if own.labels is None else own.labels[cell]
    if len(sizes) < len(given):
        raise FileError("question names an attribute twice")
    return sizes, outside
