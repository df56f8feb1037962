# SPDX-License-Identifier: Apache-2.0
# The public names and where they are, listed once: type checkers and editors read this file, and
# __init__.py does, which loads a name when it is first used.

from lownoise import device as device
from lownoise import errors as errors
from lownoise import learning as learning
from lownoise import theory as theory
from lownoise.errors import ReadingNotice as ReadingNotice
from lownoise.planning import JointPlan as JointPlan
from lownoise.planning import JointRelease as JointRelease
from lownoise.planning import LocalPlan as LocalPlan
from lownoise.planning import Plan as Plan
from lownoise.planning import StreamPlan as StreamPlan
from lownoise.planning import budget_for as budget_for
from lownoise.planning import local as local
from lownoise.planning import plan as plan
from lownoise.planning import size_for as size_for
from lownoise.planning import stream as stream
from lownoise.planning import together as together
from lownoise.privacy import Caps as Caps
from lownoise.privacy import Ledger as Ledger
from lownoise.privacy import approx_dp as approx_dp
from lownoise.privacy import convert as convert
from lownoise.privacy import gaussian_dp as gaussian_dp
from lownoise.privacy import local_dp as local_dp
from lownoise.privacy import pure_dp as pure_dp
from lownoise.privacy import zcdp as zcdp
from lownoise.questions import Count as Count
from lownoise.questions import Decayed as Decayed
from lownoise.questions import Distribution as Distribution
from lownoise.questions import Histogram as Histogram
from lownoise.questions import Marginals as Marginals
from lownoise.questions import Mean as Mean
from lownoise.questions import Moments as Moments
from lownoise.questions import Momentum as Momentum
from lownoise.questions import Parity as Parity
from lownoise.questions import Prefix as Prefix
from lownoise.questions import Queries as Queries
from lownoise.questions import SlidingWindow as SlidingWindow
from lownoise.questions import Sum as Sum
from lownoise.release.release import Release as Release
from lownoise.sets.domains import Ball as Ball
from lownoise.sets.domains import Box as Box
from lownoise.sets.domains import Ellipsoid as Ellipsoid
from lownoise.sets.domains import KyFanBall as KyFanBall
from lownoise.sets.domains import OperatorNormBall as OperatorNormBall
from lownoise.sets.domains import Oracle as Oracle
from lownoise.sets.domains import OrderedBall as OrderedBall
from lownoise.sets.domains import Points as Points
from lownoise.sets.domains import SchattenBall as SchattenBall
from lownoise.sets.domains import Slab as Slab
from lownoise.sets.domains import TensorPower as TensorPower
from lownoise.sets.domains import TopBall as TopBall
from lownoise.sets.domains import UnitarilyInvariantBall as UnitarilyInvariantBall
from lownoise.sets.domains import Zonotope as Zonotope
from lownoise.sets.domains import difference_body as difference_body
from lownoise.sets.domains import hull as hull
from lownoise.sets.domains import image as image
from lownoise.sets.domains import intersection as intersection
from lownoise.sets.domains import kronecker as kronecker
from lownoise.sets.domains import minkowski_sum as minkowski_sum
from lownoise.sets.domains import product as product
from lownoise.sets.domains import projection as projection
from lownoise.streams import Stream as Stream
from lownoise.verification import verify as verify

__version__: str
