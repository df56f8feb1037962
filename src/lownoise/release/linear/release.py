# SPDX-License-Identifier: Apache-2.0
"""Linear queries that may be published, with their error, their proof and their cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from lownoise.release import codec
from lownoise.release.answers import AbstractAnswers, Origin, Spend, integers_from
from lownoise.release.linear.codec import terms_from_dict

if TYPE_CHECKING:
    from lownoise.release.linear.terms import LinearTerms


@final
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearRelease(AbstractAnswers):
    """Linear queries that may be published, with their error, their proof and their cost.

    `estimate` has the sums over all records, in the order of the question.

    Args:
        terms: what is guaranteed.
        integers: the release itself, in grid steps; all else follows from it and the terms.
        spend: where it was paid, None where nothing was recorded.
        created: when (UTC, ISO 8601).
        versions: of Python, numpy and lownoise.
    """

    terms: LinearTerms
    integers: tuple[int, ...]
    spend: Spend | None
    created: str
    versions: dict[str, str]

    @classmethod
    def from_json(cls, text: str) -> LinearRelease:
        """Return the release that `to_json` wrote.

        Raises:
            FileError: where the text is no release of a version that is known.
        """

        def read() -> LinearRelease:
            fields = codec.load("release", text)
            terms = terms_from_dict(fields["terms"])
            origin = Origin.from_dict(fields)
            return cls(
                terms=terms,
                integers=integers_from(fields, terms.mechanism.length),
                spend=origin.spend,
                created=origin.created,
                versions=origin.versions,
            )

        return codec.guarded(read)
