# SPDX-License-Identifier: Apache-2.0
"""Who paid for a release, when it was made, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final

from lownoise.errors import FileError


@final
@dataclass(frozen=True)
class Spend:
    """Where a release was paid: the ledger's dataset and the number of the entry."""

    dataset: str
    number: int


@final
@dataclass(frozen=True)
class Origin:
    """Who paid for a release (None where nothing was recorded), when, and what made it."""

    spend: Spend | None
    created: str
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        spend = self.spend and {"dataset": self.spend.dataset, "number": self.spend.number}
        return {"spend": spend, "created": self.created, "versions": self.versions}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Origin:
        """Return what `to_dict` described, checked.

        Raises:
            FileError: where a field is not what `to_dict` writes.
        """
        paid, versions = fields["spend"], fields["versions"]
        spend = None if paid is None else Spend(paid["dataset"], paid["number"])
        texts = [fields["created"], *versions, *versions.values()]
        if spend is not None:
            texts.append(spend.dataset)
            whole = isinstance(spend.number, int) and not isinstance(spend.number, bool)
            if not whole or spend.number < 1 or len(paid) > 2:  # noqa: PLR2004
                raise FileError("spend.number is no number of an entry")
        if not all(isinstance(text, str) for text in texts):
            raise FileError("release states a field that is no text")
        return cls(spend, fields["created"], dict(versions))


def now() -> str:
    """Return the time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions that a release is made with."""
    import platform
    from importlib.metadata import version

    return {
        "lownoise": version("lownoise"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }
