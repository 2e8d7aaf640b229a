"""
The behaviours that differ between allocators, one record each.

A record says for which channels and which releases its trait holds. A defect
is something upstream does against its own API; the others are choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from dra_alloc.releases import EVER, Release, Span


class Channel(StrEnum):
    """Upstream's three allocator implementations."""

    STABLE = "stable"
    INCUBATING = "incubating"
    EXPERIMENTAL = "experimental"


class Trait(StrEnum):
    """The name of one behaviour; :data:`TRAITS` says where it holds."""

    INPUT_ORDER = "input-order"
    PERMUTATIONS = "permutations"
    COUNTER_SLICES_EVERYWHERE = "counter-slices-everywhere"
    COUNTER_SLICES_READ = "counter-slices-read"
    EXCLUSIVE_STATE_ONLY = "exclusive-state-only"
    NO_DISTINCT = "no-distinct"
    NO_BINDS_TO_NODE = "no-binds-to-node"
    SILENT_CAPACITY_GATE = "silent-capacity-gate"
    NO_SHARING = "no-sharing"
    CLASSIC_LISTS = "classic-lists"
    CEL_NAMES_DEVICE = "cel-names-device"
    CONFIG_PER_REQUEST = "config-per-request"
    CONFIG_KEEPS_REQUESTS = "config-keeps-requests"
    REFUSAL_LEAKS = "refusal-leaks"
    SHARED_KEEPS_COUNTERS = "shared-keeps-counters"
    INTERSECTION_STAYS = "intersection-stays"
    DISTINCT_FORGETS = "distinct-forgets"
    COUNTERS_BY_POOL_NAME = "counters-by-pool-name"
    SHARE_WITHOUT_CAPACITY_CHARGED = "share-without-capacity-charged"
    ALL_SKIPS_EXHAUSTED = "all-skips-exhausted"
    ALL_MISFIT_FATAL = "all-misfit-fatal"
    ALL_BAD_POOL_FATAL = "all-bad-pool-fatal"
    ALL_SLIPS = "all-slips"
    ALL_MEMO_SHARED = "all-memo-shared"
    BINDING_SLICES_LAST = "binding-slices-last"
    NO_RESULT_TOLERATIONS = "no-result-tolerations"
    LIMIT_PER_CLAIM = "limit-per-claim"
    POOLS_AS_SEEN = "pools-as-seen"
    COUNTERS_PER_SLICE = "counters-per-slice"
    EVERY_TAINT_BARS = "every-taint-bars"
    SHARES_CHARGED = "shares-charged"
    DISTINCT_BY_IDENTITY = "distinct-by-identity"
    CAPACITY_OF_ANOTHER = "capacity-of-another"
    REFUSAL_KEEPS_USE = "refusal-keeps-use"
    CAPACITY_GATE_NAMES_REQUEST = "capacity-gate-names-request"
    CAPACITY_WRAPS = "capacity-wraps"
    CAPACITY_FORGOTTEN = "capacity-forgotten"
    RULE_WITHOUT_SELECTOR = "rule-without-selector"
    SKIPPING_NEEDS_NODE = "skipping-needs-node"
    DERIVED_NEEDS_GATE = "derived-needs-gate"
    GROUPS_HIDE_SLICES = "groups-hide-slices"
    AMOUNTS_GROW = "amounts-grow"
    COUNTERS_SHARE_AMOUNTS = "counters-share-amounts"
    SHARED_GIVEN_WHOLE = "shared-given-whole"
    BUILDS_COMPARED = "builds-compared"
    ODD_VALUES_PICKED = "odd-values-picked"
    NEGATIVE_ROUNDED = "negative-rounded"
    CAPACITY_BY_SPELLING = "capacity-by-spelling"
    BROKEN_FAILS_ALL = "broken-fails-all"
    ODD_VALUES_UNNAMED = "odd-values-unnamed"
    WIDE_DEFAULT_COPIED = "wide-default-copied"


@dataclass(frozen=True, slots=True)
class TraitRecord:
    """
    Where a trait holds: in the channels, for the releases of the span, later ones included unless it ends.

    `defect` marks what `semantics="intended"` switches off. `issue` is
    upstream's issue or pull request, if there is one.
    """

    summary: str
    span: Span
    channels: frozenset[Channel] = frozenset(Channel)
    defect: bool = False
    issue: int | None = None


_STABLE: Final = frozenset({Channel.STABLE})
_NEWER: Final = frozenset({Channel.INCUBATING, Channel.EXPERIMENTAL})
_EXPERIMENTAL: Final = frozenset({Channel.EXPERIMENTAL})
#: Repaired by 1.36.6 and before 1.37.0; the newest patches of older lines have it still.
_TO_1366: Final = Span(end="1.37.0", backports=("1.36.6",))
#: Repaired before 1.37.0 only.
_TO_1370: Final = Span(end="1.37.0")
_TO_136: Final = Span(end="1.37")
#: Every allocator moved one channel up with 1.36: incubating became stable, experimental became incubating.
_BEFORE_136: Final = Span(end="1.36")
_ONLY_134: Final = Span(end="1.35")
_ONLY_135: Final = Span("1.35", "1.36")
#: And once more with 1.38, which ends what its stable allocator had of the oldest one.
_TO_138: Final = Span(end="1.38")
_SINCE_136: Final = Span("1.36", "1.38")
_SINCE_1370: Final = Span("1.37.0")
_OLDER: Final = frozenset({Channel.STABLE, Channel.INCUBATING})


def _in_older_allocators(summary: str) -> tuple[TraitRecord, ...]:
    """Return the records of what the two older allocators of 1.34 and 1.35 do, of which 1.36 keeps one as stable."""
    return TraitRecord(summary, _BEFORE_136, _OLDER), TraitRecord(summary, _SINCE_136, _STABLE)


def _in_newest_allocators(summary: str, repaired: Span, issue: int | None = None) -> tuple[TraitRecord, ...]:
    """Return the records of a defect of the newest allocator of 1.34 and 1.35, which 1.36 has in two channels."""
    return (
        TraitRecord(summary, _BEFORE_136, _EXPERIMENTAL, defect=True, issue=issue),
        TraitRecord(summary, repaired, _NEWER, defect=True, issue=issue),
    )


TRAITS: Final[Mapping[Trait, tuple[TraitRecord, ...]]] = {
    Trait.INPUT_ORDER: (
        TraitRecord("pools and slices are tried in input order, not by name", _TO_138, _STABLE),
        TraitRecord("pools and slices are tried in input order, not by name", _BEFORE_136, _NEWER),
    ),
    Trait.PERMUTATIONS: (
        TraitRecord("devices of one request are tried in every order", _TO_138, _STABLE),
        TraitRecord("devices of one request are tried in every order", _BEFORE_136, _NEWER),
    ),
    Trait.COUNTER_SLICES_EVERYWHERE: (
        TraitRecord("a slice with shared counters is relevant on every node", _SINCE_136, _STABLE),
        TraitRecord("a slice with shared counters is relevant on every node", Span("1.35", "1.37"), _NEWER),
    ),
    Trait.COUNTER_SLICES_READ: (
        TraitRecord("a slice with shared counters is read while partitionable devices are off", _ONLY_134),
        TraitRecord("a slice with shared counters is read while partitionable devices are off", _ONLY_135, _STABLE),
    ),
    Trait.EXCLUSIVE_STATE_ONLY: (
        TraitRecord("only devices held exclusively draw on counters, not shared ones", _TO_138, _STABLE),
        TraitRecord(
            "only devices held exclusively draw on counters, not shared ones",
            Span(end="1.36.2"),
            _NEWER,
            issue=139040,
        ),
    ),
    Trait.NO_DISTINCT: _in_older_allocators("distinctAttribute is an unsupported constraint"),
    Trait.NO_BINDS_TO_NODE: _in_older_allocators("bindsToNode does not restrict the node selector"),
    Trait.SILENT_CAPACITY_GATE: _in_older_allocators("capacity requests are ignored while their feature is off"),
    Trait.NO_SHARING: _in_older_allocators("every device is dedicated"),
    Trait.CLASSIC_LISTS: (
        TraitRecord("constraints compare scalars only; a list is accepted on the first device", _TO_138, _OLDER),
        TraitRecord("constraints compare scalars only; a list is accepted on the first device", Span("1.38"), _STABLE),
    ),
    Trait.CEL_NAMES_DEVICE: (TraitRecord("CEL run-time errors name the device and give a hint", Span("1.37")),),
    Trait.CONFIG_PER_REQUEST: (TraitRecord("claim config is listed once per request it names", _TO_136),),
    Trait.CONFIG_KEEPS_REQUESTS: (TraitRecord("config keeps its requests even if they are all of them", _TO_136),),
    Trait.REFUSAL_LEAKS: (
        TraitRecord(
            "a device refused by taint, constraint or capacity keeps what earlier checks reserved",
            _TO_1366,
            defect=True,
            issue=140431,
        ),
    ),
    Trait.SHARED_KEEPS_COUNTERS: (
        TraitRecord(
            "backtracking does not return the counters of a shared device", _TO_1366, defect=True, issue=140431
        ),
    ),
    Trait.INTERSECTION_STAYS: (
        TraitRecord(
            "backtracking does not widen the common list values again",
            _TO_1370,
            _EXPERIMENTAL,
            defect=True,
            issue=140325,
        ),
    ),
    Trait.DISTINCT_FORGETS: (
        TraitRecord("distinctAttribute remembers one value per request", _TO_1370, _NEWER, defect=True, issue=140600),
    ),
    Trait.COUNTERS_BY_POOL_NAME: (
        TraitRecord(
            "counters are kept by pool name without the driver",
            Span("1.35", "1.37.0", ("1.36.6",)),
            defect=True,
            issue=140435,
        ),
    ),
    Trait.SHARE_WITHOUT_CAPACITY_CHARGED: (
        TraitRecord(
            "a further share of a device without consumed capacity is charged its counters again",
            Span("1.35", "1.37.0"),
            _NEWER,
            defect=True,
            issue=140437,
        ),
    ),
    Trait.ALL_SKIPS_EXHAUSTED: (
        TraitRecord(
            "All leaves out devices whose remaining capacity is too small",
            _TO_1370,
            _NEWER,
            defect=True,
            issue=140769,
        ),
    ),
    Trait.ALL_MISFIT_FATAL: (
        TraitRecord("an All device that violates a constraint aborts the whole search", EVER, defect=True),
    ),
    Trait.LIMIT_PER_CLAIM: (
        TraitRecord(
            "the 32 devices of a claim are counted after all its requests, not request by request",
            Span(end="1.37.0", backports=("1.34.13", "1.35.10", "1.36.6")),
        ),
    ),
    Trait.ALL_SLIPS: (
        TraitRecord(
            "after its first device an All alternative goes on as the first alternative of the request",
            _BEFORE_136,
            defect=True,
            issue=137347,
        ),
    ),
    Trait.ALL_MEMO_SHARED: (
        TraitRecord(
            "the second alternative, if both ask for All, takes over which devices match the first",
            _BEFORE_136,
            defect=True,
            issue=137347,
        ),
    ),
    Trait.BINDING_SLICES_LAST: (
        TraitRecord(
            "slices of devices with binding conditions come last in their pool, such pools last of all",
            _BEFORE_136,
            _EXPERIMENTAL,
        ),
    ),
    Trait.NO_RESULT_TOLERATIONS: (
        TraitRecord("results do not carry the tolerations of their request", _ONLY_134),
        TraitRecord("results do not carry the tolerations of their request", _ONLY_135, _STABLE),
    ),
    Trait.POOLS_AS_SEEN: (
        TraitRecord(
            "a pool is the slices that the node sees; it is used while incomplete, and ends the search if invalid",
            _ONLY_134,
        ),
    ),
    Trait.COUNTERS_PER_SLICE: (
        TraitRecord("counters belong to the slice of the devices that draw on them, unchecked", _ONLY_134),
    ),
    Trait.EVERY_TAINT_BARS: (TraitRecord("a taint has to be tolerated whatever its effect", _ONLY_134),),
    Trait.SHARES_CHARGED: (
        TraitRecord(
            "every further share of a device is charged its counters again", _ONLY_134, defect=True, issue=134100
        ),
    ),
    Trait.DISTINCT_BY_IDENTITY: (
        TraitRecord(
            "distinctAttribute tells values apart by where they are stored: only a device itself is equal",
            _ONLY_134,
            _EXPERIMENTAL,
            defect=True,
            issue=135022,
        ),
    ),
    Trait.CAPACITY_OF_ANOTHER: (
        TraitRecord(
            "a device is taken by the capacity of that device of its slice whose position is the pick's number",
            _ONLY_134,
            _EXPERIMENTAL,
            defect=True,
            issue=133705,
        ),
    ),
    Trait.REFUSAL_KEEPS_USE: _in_newest_allocators(
        "a device refused by capacity when it is taken stays in use for the rest of the search",
        Span("1.36", "1.37.0", ("1.36.6",)),
        issue=140431,
    ),
    Trait.CAPACITY_GATE_NAMES_REQUEST: (
        TraitRecord(
            "capacity asked for by an alternative while its feature is off is told of the whole request",
            _ONLY_134,
            _EXPERIMENTAL,
        ),
    ),
    Trait.CAPACITY_WRAPS: (
        TraitRecord(
            "amounts of capacity wrap around at 64 bits and may be negative; rounded ones print in powers of two",
            _TO_1370,
        ),
    ),
    Trait.CAPACITY_FORGOTTEN: _in_newest_allocators(
        "amounts in flight that a negative one evened out are forgotten when a pick is given back",
        Span("1.36", "1.37.0"),
    ),
    Trait.RULE_WITHOUT_SELECTOR: (
        TraitRecord(
            "a DeviceTaintRule without a selector taints every device, not none", _TO_1370, defect=True, issue=141620
        ),
    ),
    Trait.SKIPPING_NEEDS_NODE: (
        TraitRecord(
            "a slice that skips node operations needs the feature for that, and a node that declares it",
            Span("1.37.0", "1.38"),
            _EXPERIMENTAL,
        ),
        TraitRecord(
            "a slice that skips node operations needs the feature for that, and a node that declares it",
            Span("1.38"),
            _NEWER,
        ),
    ),
    Trait.DERIVED_NEEDS_GATE: (
        TraitRecord(
            "a request with derived attributes is refused while their feature is off; before, they are unknown",
            _SINCE_1370,
        ),
    ),
    Trait.GROUPS_HIDE_SLICES: (
        TraitRecord(
            "a slice with compatibility groups is as if absent while their feature is off",
            _SINCE_1370,
        ),
    ),
    Trait.AMOUNTS_GROW: _in_newest_allocators(
        "an amount asked for that is held by reference grows by what is in flight when a device is looked at",
        Span("1.36", "1.37.0"),
        issue=140702,
    ),
    Trait.COUNTERS_SHARE_AMOUNTS: (
        TraitRecord(
            "what a device takes of a counter changes with what others take, if it is held by reference",
            _TO_1370,
            defect=True,
            issue=140518,
        ),
    ),
    Trait.ALL_BAD_POOL_FATAL: (
        TraitRecord("All on an incomplete or invalid pool aborts every node", _TO_138, defect=True, issue=141898),
    ),
    Trait.SHARED_GIVEN_WHOLE: (
        TraitRecord(
            "a device that stopped being shareable is given out whole while shares of it are held", _TO_138, defect=True
        ),
    ),
    Trait.BUILDS_COMPARED: (
        TraitRecord("constraints tell versions apart by their build metadata", _TO_138, defect=True),
    ),
    Trait.ODD_VALUES_PICKED: (
        TraitRecord("a value that constraints cannot compare is taken alone, or never", _TO_138, defect=True),
    ),
    Trait.WIDE_DEFAULT_COPIED: (
        TraitRecord("a default beyond 64 bits or a billionth has to obey its own policy", _TO_138),
    ),
    Trait.BROKEN_FAILS_ALL: (
        TraitRecord("an attribute without a readable value fails every selector on its device", _TO_138),
    ),
    Trait.CAPACITY_BY_SPELLING: (
        TraitRecord("names of capacities are compared as they are spelt, with or without domain", _TO_138, defect=True),
    ),
    Trait.ODD_VALUES_UNNAMED: (
        TraitRecord(
            "the error of a value that cannot be compared names neither claim nor request",
            Span("1.38"),
            _NEWER,
            defect=True,
        ),
    ),
    Trait.NEGATIVE_ROUNDED: (
        TraitRecord("a negative amount asked for is rounded up by its policy", _TO_138, defect=True),
    ),
}


@cache
def traits_of(release: Release, channel: Channel, *, defects: bool) -> frozenset[Trait]:
    """Return the traits an allocator shows; without `defects` only those that are choices."""
    return frozenset(
        trait
        for trait, records in TRAITS.items()
        for record in records
        if record.span.holds(release) and channel in record.channels and (defects or not record.defect)
    )
