# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: noise in its final form, added to exact totals."""

from lownoise.noise.gaussian import GaussianMechanism, gaussian_mechanism
from lownoise.noise.ordered import OrderedMechanism, ordered_mechanism
from lownoise.noise.parity import ParityMechanism, parity_mechanism
from lownoise.noise.product import ProductMechanism, product_mechanism
from lownoise.noise.queries import QueryMechanism, query_mechanism
from lownoise.noise.residual import ResidualMechanism, residual_mechanism

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
