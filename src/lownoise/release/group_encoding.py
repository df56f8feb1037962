# SPDX-License-Identifier: Apache-2.0
"""Noise and evidence of means by groups as JSON values, and back with every check."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lownoise.certificate.groups import GroupDual
from lownoise.certificate.tables import ResidualDual
from lownoise.errors import FileError
from lownoise.kinds import numbers
from lownoise.noise.gaussian import GaussianNoise
from lownoise.noise.group_noise import group_mechanism, group_values, with_diameter
from lownoise.noise.joint_groups import JointNoise, joint_mechanism
from lownoise.noise.measured import MeasuredTables
from lownoise.release.encoding import evidence_from_dict, evidence_to_dict, relation_to_dict
from lownoise.release.marginal_encoding import dual_from_dict, dual_to_dict
from lownoise.release.totals import size_from
from lownoise.sensitivity.factors import SHAPES
from lownoise.sensitivity.relations import ADD_REMOVE, Change
from lownoise.sensitivity.residuals import marginal_orbits

if TYPE_CHECKING:
    from collections.abc import Callable

    from lownoise.certificate import AbstractDual
    from lownoise.noise import AdditiveMechanism
    from lownoise.questions.mean import AbstractGrouped
    from lownoise.release.terms import Terms

_NEAR = 1e-9  # of a length that another machine measured


def group_noise_to_dict(
    mechanism: AdditiveMechanism, of_mean: Callable[[AdditiveMechanism], dict[str, Any]]
) -> dict[str, Any]:
    """Return the noise of groups: that of a mean, and what it is multiplied by.

    Args:
        mechanism: of groups.
        of_mean: what writes the noise of a mean.
    """
    found = {"values": of_mean(group_values(mechanism))}
    noise: Any = mechanism.noise
    if isinstance(noise, JointNoise):
        totals: Any = mechanism.totals
        found |= {} if totals.tables is None else _tables_to_dict(totals.tables)
        return found | ({"agrees": True} if totals.agrees else {})
    found["deviations"] = noise.tables.orbit_deviations.tolist()
    if noise.all_rows is not None:
        found["all_rows"] = SHAPES.write(noise.all_rows.shape)
    if noise.diameter is not None:
        found["diameter"] = noise.diameter
    return found


def group_evidence_to_dict(dual: GroupDual) -> dict[str, Any]:
    """Return evidence as JSON values."""
    return {
        "values": evidence_to_dict(dual.values, dual.plain),
        "tables": dual_to_dict(dual.tables),
        **({} if dual.apart is None else {"apart": evidence_to_dict(dual.apart, None)}),
    }


def groups_from_dict(
    of_mean: Callable[[dict[str, Any], str, Any], Terms],
    fields: dict[str, Any],
    name: str,
    question: AbstractGrouped,
) -> Terms:
    """Return the terms that a file states of means by groups.

    Args:
        of_mean: what reads those of a mean.
        fields: of the file.
        name: of the mechanism.
        question: what was asked.

    Raises:
        FileError: where a field is wrong.
    """
    noise, evidence, size = fields["noise"], fields["evidence"], size_from(fields)
    own = None if evidence is None else evidence["values"]
    # one group's numbers are those of a mean whose count is private
    one = {"relation": ADD_REMOVE, "size": None, "noise": noise["values"], "evidence": own}
    if not question.counted:  # of one record, which changes by a point of the domain
        one |= {"relation": relation_to_dict(Change(question.mean.domain)), "size": 1}
    values = of_mean({**fields, **one}, name, question.mean)
    if not values.gaussian:
        dual = None
        if evidence is not None and values.evidence is not None:
            dual = GroupDual(values=values.evidence, plain=None, tables=_tables(evidence, question))
        agrees = noise.get("agrees", False)  # files of before have none
        if type(agrees) is not bool:
            raise FileError("noise.agrees is neither true nor false")
        tables = _measured(noise, question)
        joint = joint_mechanism(question, values.mechanism, size, tables, agrees=agrees)
        return replace(values, question=question, mechanism=joint, evidence=dual)
    orbits = marginal_orbits(question.groups)
    deviations = numbers(noise["deviations"], "noise.deviations", len(orbits.residuals))
    if np.any(deviations <= 0):
        raise FileError("noise.deviations are not all above 0")
    duals = _tables(evidence, question)
    if values.plain_evidence is None:
        raise FileError("evidence is not that of means by groups")
    apart, all_rows = _apart(evidence, question), _all_rows(noise, values.mechanism, question)
    if all_rows is not None and deviations[0] != 1:
        raise FileError("noise.deviations do not begin with the 1 of all_rows")
    dual = GroupDual(values=values.evidence, plain=values.plain_evidence, tables=duals, apart=apart)
    mechanism = group_mechanism(question, values.mechanism, deviations, size, all_rows)
    return replace(
        values,
        question=question,
        mechanism=_with_diameter(noise, mechanism),
        evidence=dual,
        plain_evidence=None,
    )


def _all_rows(
    noise: dict[str, Any], values: AdditiveMechanism, question: AbstractGrouped
) -> GaussianNoise | None:
    """Return the noise that a file states of the sums of all rows; None where it has no other.

    Raises:
        FileError: where it is no noise of these.
    """
    if "all_rows" not in noise:
        return None
    if question.counted:
        raise FileError("noise.all_rows is of totals without a count")
    shape = SHAPES.read(noise["all_rows"])
    if shape.dimension != values.length:
        raise FileError("noise.all_rows is not of one coordinate a sum")
    return GaussianNoise(shape)


def _with_diameter(noise: dict[str, Any], mechanism: AdditiveMechanism) -> AdditiveMechanism:
    """Return the mechanism whose charge rests on D, where a file states it; files of before do not.

    Raises:
        FileError: where it is not how far two records of a group are from each other in the noise.
    """
    if "diameter" not in noise:
        return mechanism
    own: Any = mechanism.noise
    totals: Any = mechanism.totals
    if not totals.exact_count:
        raise FileError("noise.diameter is of means by groups of a public number of rows")
    stated, found = noise["diameter"], own.diameter_up(totals.changes)
    if type(stated) is not float or not math.isclose(stated, found, rel_tol=_NEAR):
        raise FileError("noise.diameter is not how far two records of a group are from each other")
    return with_diameter(mechanism, stated)


def _apart(evidence: dict[str, Any], question: AbstractGrouped) -> AbstractDual | None:
    if "apart" not in evidence:
        return None
    return evidence_from_dict(evidence["apart"], len(question.columns))[0]


def _tables_to_dict(tables: MeasuredTables) -> dict[str, Any]:
    return {"tables": list(map(list, tables.sets)), "scales": list(tables.scales)}


def _measured(noise: dict[str, Any], question: AbstractGrouped) -> MeasuredTables | None:
    """Return the tables that a file states; None where the noise is on joint groups alone.

    Raises:
        FileError: where they are none.
    """
    if "tables" not in noise:
        return None
    listed = noise["tables"]
    whole = isinstance(listed, list) and all(
        isinstance(own, list) and all(type(i) is int for i in own) for own in listed
    )
    if not whole:
        raise FileError("noise.tables is no list of lists of whole numbers")
    scales = numbers(noise["scales"], "noise.scales", len(listed))
    sizes = tuple(a.size for a in question.groups.attributes)
    return MeasuredTables(sizes, tuple(map(tuple, listed)), tuple(scales.tolist()))


def _tables(evidence: dict[str, Any], question: AbstractGrouped) -> ResidualDual:
    found = dual_from_dict(question.groups, evidence["tables"], public=False, product=False)
    if not isinstance(found, ResidualDual):
        raise FileError("evidence is not that of means by groups")
    return found
