# SPDX-License-Identifier: Apache-2.0
"""What devices and the collector read of a local plan's document: its terms, and their digest."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from lownoise.errors import FileError
from lownoise.local_model.encoder import ENCODERS
from lownoise.local_model.randomizer import RANDOMIZERS

if TYPE_CHECKING:
    from lownoise.local_model.encoder import AbstractEncoder
    from lownoise.local_model.randomizer import AbstractRandomizer

FIELDS = frozenset({"name", "budget", "order", "weights", "encoder", "randomizer", "alternatives"})


def terms_digest(terms: dict[str, Any]) -> str:
    """Return the SHA-256 of a plan's terms, 64 hexadecimal digits: what its reports name it by.

    Examples:
        >>> terms_digest({"a": 1})[:8]
        'f9d86028'
    """
    text = json.dumps(terms, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parts(terms: Any) -> tuple[AbstractEncoder, AbstractRandomizer]:  # noqa: ANN401
    """Return what makes a report of a record: the encoder and the randomizer of some terms.

    Args:
        terms: `document["terms"]` of a local plan.

    Raises:
        FileError: where a field is missing, unknown or of no meaning, or the two do not fit.
    """
    if not isinstance(terms, dict) or set(terms) != FIELDS:
        raise FileError("terms have not the fields of a local plan; use an unedited file")
    encoder, randomizer = (
        ENCODERS.read(terms["encoder"]),
        RANDOMIZERS.read(terms["randomizer"]),
    )
    check_fit(encoder, randomizer)
    return encoder, randomizer


def check_fit(encoder: AbstractEncoder, randomizer: AbstractRandomizer) -> None:
    """Refuse a randomizer that does not take what an encoder makes.

    Raises:
        FileError: as said.
    """
    if encoder.makes != randomizer.takes or encoder.dimension != randomizer.dimension:
        raise FileError("randomizer does not take what the encoder makes; plan again")
