# SPDX-License-Identifier: Apache-2.0
"""What a person's own device runs: one report of its record, and a memory of its answers.

Numpy is all that it needs. Interval arithmetic is imported where the bits of a draw leave open what
it rounds to, and where a plan is verified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from lownoise.errors import FileError, PlanError, path_of, quoted
from lownoise.local_model.document import parts, terms_digest
from lownoise.local_model.keeper import Keeper, Spent
from lownoise.local_model.report import Report, ReportFormat
from lownoise.numbers.randomness import SystemRandomness
from lownoise.numbers.readable import readable
from lownoise.release import codec

if TYPE_CHECKING:
    from os import PathLike

    from lownoise.local_model.encoder import AbstractEncoder
    from lownoise.local_model.randomizer import AbstractRandomizer, LocalLoss

__all__ = ["DevicePlan", "Keeper", "Report", "Spent", "read"]


@final
@readable
@dataclass(frozen=True, eq=False, kw_only=True)
class DevicePlan:
    """A public plan, as far as a device needs it.

    Args:
        encoder: from a record to integers.
        randomizer: from those to a report.
        epsilon: ε that one report may reveal, as the plan states it; `verify` checks that it holds.
        delta: δ, 0 for pure privacy.
        digest: the SHA-256 of the plan's terms, 64 hexadecimal digits.
    """

    encoder: AbstractEncoder
    randomizer: AbstractRandomizer
    epsilon: float
    delta: float
    digest: str

    @cached_property
    def form(self) -> ReportFormat:
        """How reports are written in bytes."""
        return ReportFormat.of(self.digest, self.randomizer)

    def randomize(self, record: Any) -> Report:  # noqa: ANN401 (as the encoder takes it)
        """Return one report of a record.

        Every call draws anew, and two reports of one person cost twice: `Keeper` keeps the first.

        Args:
            record: d numbers, in order or by the columns' names; of marginals the values by the
                attributes' names. What is no finite number counts as the public stand-in.

        Raises:
            TableError: where it has not the plan's values; nothing is drawn then.
        """
        randomness = SystemRandomness()
        encoded = self.encoder.encode([record])
        values = self.randomizer.reports(encoded, randomness=randomness)
        return self.form.fresh(values[0], randomness=randomness)

    def verify(self) -> LocalLoss:
        """Return what one report reveals, from the numbers that reports are drawn with.

        So the privacy statement of the plan's author need not be trusted. This imports interval
        arithmetic.

        Raises:
            PlanError: where it is more than the ε and δ that the plan states.
        """
        loss = self.randomizer.loss
        if not loss.within(self.epsilon, self.delta):
            raise PlanError(
                f"plan reveals epsilon={loss.epsilon!r}, mu={loss.mu!r} where it states "
                f"epsilon={self.epsilon!r}, delta={self.delta!r}; send no report of it"
            )
        return loss


def read(source: str | PathLike[str]) -> DevicePlan:
    """Return the public plan of a document, as `ln.local(…).to_json()` wrote it.

    Args:
        source: the text, or the path of a file with it.

    Raises:
        FileError: where it cannot be read, or is no local plan as it was written.
    """
    if isinstance(source, str) and (not source.strip() or source.lstrip()[0] in "{["):
        return _of_text(source)
    file = path_of(source, "file")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise FileError(
            f"file={quoted(str(source))} cannot be read; give a local plan's file, or its text"
        ) from None
    return _of_text(text)


def _of_text(text: str) -> DevicePlan:
    def found() -> DevicePlan:
        document = codec.load("local", text)
        if document["digest"] != codec.digest(document):
            raise FileError("digest is not that of the document; use an unedited file")
        terms = document["terms"]
        encoder, randomizer = parts(terms)
        epsilon, delta = _budget(terms["budget"])
        return DevicePlan(
            encoder=encoder,
            randomizer=randomizer,
            epsilon=epsilon,
            delta=delta,
            digest=terms_digest(terms),
        )

    return codec.guarded(found)


def _budget(fields: dict[str, Any]) -> tuple[float, float]:
    """Return ε and δ of a plan."""
    epsilon, delta = fields.get("epsilon"), fields.get("delta")
    own = fields == {"kind": "local_dp", "epsilon": epsilon, "delta": delta}
    if own and isinstance(epsilon, float) and isinstance(delta, float):  # noqa: SIM102
        if 0 < epsilon < math.inf and 0 <= delta < 1:
            return epsilon, delta
    raise FileError(f"budget={quoted(fields)} is none of local_dp; use an unedited file")
