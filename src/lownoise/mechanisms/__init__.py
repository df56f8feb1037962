# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: noise in its final form, added to exact totals."""

from lownoise.mechanisms.gaussian import GaussianMechanism, gaussian_mechanism
from lownoise.mechanisms.ordered import OrderedMechanism, ordered_mechanism
from lownoise.mechanisms.parity import ParityMechanism, parity_mechanism
from lownoise.mechanisms.product import ProductMechanism, product_mechanism
from lownoise.mechanisms.queries import QueryMechanism, query_mechanism
from lownoise.mechanisms.residual import ResidualMechanism, residual_mechanism

__all__ = [
    "GaussianMechanism",
    "OrderedMechanism",
    "ParityMechanism",
    "ProductMechanism",
    "QueryMechanism",
    "ResidualMechanism",
    "gaussian_mechanism",
    "ordered_mechanism",
    "parity_mechanism",
    "product_mechanism",
    "query_mechanism",
    "residual_mechanism",
]
