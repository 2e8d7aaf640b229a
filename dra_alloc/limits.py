"""
Size limits of the API, one named constant each, with the field it bounds.
"""

from __future__ import annotations

from typing import Final

#: `status.allocation.devices.results` of one claim.
ALLOCATION_RESULTS_MAX: Final = 32

#: `status.reservedFor` of one claim: how many consumers share it.
RESERVED_FOR_MAX_SIZE: Final = 256

#: `spec.devices.requests`, `constraints` and `config` of one claim, and `firstAvailable` of one request.
REQUESTS_MAX: Final = 32
CONSTRAINTS_MAX: Final = 32
CONFIG_MAX: Final = 32
ALTERNATIVES_MAX: Final = 8

#: `selectors` of a request or a class.
SELECTORS_MAX: Final = 32

#: `spec.devices` and `spec.sharedCounters` of one slice.
DEVICES_MAX: Final = 128
#: `spec.devices` of a slice in which one has taints, counters or lists of values.
DEVICES_WITH_FEATURES_MAX: Final = 64
COUNTER_SETS_MAX: Final = 8
#: Attributes and capacities of a device together, and counters of a set, or that a device draws on.
ATTRIBUTES_MAX: Final = 32
COUNTERS_MAX: Final = 32

#: One slice, as whoever publishes it may send it.
SLICE_BYTES_MAX: Final = 3 << 20

#: `selectors[].cel.expression`: estimated cost at admission, counted cost at run time.
CEL_SELECTOR_MAX_COST: Final = 1_000_000

#: `selectors[].cel.expression`, bytes.
CEL_SELECTOR_MAX_LENGTH: Final = 10 * 1024


class DefaultSteps(int):
    """A number of steps that nobody asked for: it may be cut short, the same number asked for may not."""


#: Search steps of one question before the answer is "undecided".
DEFAULT_STEP_BUDGET: Final = DefaultSteps(2_000_000)

#: Search steps of one question left to the plain search once pruned search and solver gave no answer.
DEFAULT_LATE_STEP_BUDGET: Final = 1_000

#: Steps of the search that skips states like failed ones.
DEFAULT_PRUNED_BUDGET: Final = 40_000

#: What OR-tools may spend on one question, in its deterministic units of about a second.
DEFAULT_SOLVER_BUDGET: Final = 10.0

#: `dra-alloc capacity`: how many more nodes of one kind there may be, and how many numbers of nodes are tried.
DEFAULT_MOST_NODES: Final = 100
DEFAULT_NODE_TRIES: Final = 60
