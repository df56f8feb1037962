# SPDX-License-Identifier: Apache-2.0
"""What no Gaussian noise on means by groups can beat: a product of two bounds.

Let Γ_p(S; L) be the least ‖L-answers' deviations‖_p of Gaussian noise that covers S at μ = 1. It is
the greatest of tr (G^{1/2} C G^{1/2})^{1/2}, G = Lᵀ diag(c) L, over c ≥ 0 with ‖c‖_q ≤ 1 and second
moments C of measures on S (see `certificate.evidence`, and 002, Theorem 26 and Lemma 67). Take
such c and C for the tables, whose records are e_g, and for the values y. Then c ⊗ c' has norm 1,
the second moment of e_g ⊗ y with g and y independent is C ⊗ C', and G ⊗ G' goes with them, so that

    Γ_p(tables ⊗ values) ≥ tr (G^{1/2} C G^{1/2})^{1/2} · tr (G'^{1/2} C' G'^{1/2})^{1/2},

whose greatest is Γ_p(tables)·Γ_p(values). The product of both least noises has exactly that error:
the deviations of cell b's answer j are those of b times those of j, and e_g ⊗ y is as long as e_g
times y. So where both are the least, the product is the least of all, for every p (ours; checked
against the general solver in the tests).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from lownoise.certificate.evidence import AbstractDual
    from lownoise.certificate.tables import ResidualDual


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupDual:
    """The evidence for a lower bound.

    Args:
        values: on what a record changes in one group.
        plain: the same for weights of one on the columns, of Gaussian noise.
        tables: on which groups there are.
    """

    values: AbstractDual
    plain: AbstractDual | None
    tables: ResidualDual
