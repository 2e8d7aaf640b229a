"""
What a rule is: one law about picks, seen from several sides.

The search asks `rejects` while it looks for a candidate, then `add` when it
takes one and `remove` when it gives it back. `violations` says the same law
once more without any state, for checking a finished answer; `allows` and
`encode` say it as facts about all picks at once, for engines that do not
search step by step. Engines know rules through this module only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar, NamedTuple

from msgspec import Struct, field

from dra_alloc.api import DerivedAttribute, DeviceAttribute, Node
from dra_alloc.problem.devices import DeviceKey, DeviceRow, SliceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile
from dra_alloc.rules.facts import Fact


class SearchStopped(Exception):
    """
    The whole question ends with an error, as upstream ends it; nothing is allocated.

    `code` is a stable reason code; `on_node` says that other nodes may still
    be tried.
    """

    def __init__(self, text: str, *, code: str, on_node: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.on_node = on_node


class Pick(NamedTuple):
    """A device taken for a request."""

    ask: Ask
    device: DeviceRow


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a rule refused a device: a stable kebab-case code and a lowercase fragment."""

    code: str
    detail: str
    holders: tuple[str, ...] = ()


class Context(Struct, frozen=True, eq=False):
    """
    What rules are installed with, for one question on one node.

    `in_flight` is the capacity that shares picked in this search consume; it
    belongs to the capacity rule and is read by the counter rule. `refused` is what
    selectors are known to say, whichever engine asked first. `selectors`
    evaluates a device against a request, `derive` a derived attribute. `holders` names the claims that hold
    a device, for reasons, `claim_names` those asked about, for error texts. Who `asks_once` about each device keeps
    the answers: rules need not. `selects_of` tells of a slice whether all of its devices are selected, or none; None
    where each has to be asked about.
    """

    profile: Profile
    node: Node
    pools: Sequence[Pool]
    usage: Usage
    selects: Callable[[Ask, DeviceRow], bool]
    explain_selector: Callable[[Ask, DeviceRow], tuple[str, str]]
    derive: Callable[[DerivedAttribute, DeviceRow], DeviceAttribute]
    availability: Callable[[Pool], Mapping[tuple[str, str], int]]
    holders: Callable[[DeviceKey], tuple[str, ...]]
    in_flight: dict[DeviceKey, dict[str, int]] = field(default_factory=dict)
    refused: dict[tuple[int, DeviceRow], bool] = field(default_factory=dict)
    claim_names: Sequence[str] = ()
    asks_once: bool = False
    selects_of: Callable[[Ask, SliceRow], bool | None] = lambda ask, row: None

    def claim_name(self, ask: Ask) -> str:
        """Return the name of the claim that asks; empty where the context is for no claims in particular."""
        return self.claim_names[ask.claim] if self.claim_names else ""


class About(Enum):
    """What a rule is about, for those who treat some rules differently: how it is called does not matter to them."""

    DEVICE = auto()
    NODE = auto()
    SELECTORS = auto()
    USE = auto()
    TAINTS = auto()
    COUNTERS = auto()
    CONSTRAINT = auto()
    CAPACITY = auto()


class Rule:
    """
    One law. The defaults say "no objection" and "no state".

    `about` is what it looks at, CONSTRAINT for a constraint of a claim; `gathers`
    marks rules that already decide which devices allocationMode All records; what
    a rule that is `fixed` rejects once it rejects as long as the search runs;
    `spec` names the statements. `sound` is False for a rule installed with a
    defect that lets illegal picks pass, so that they are not taken for our bug.
    """

    code: ClassVar[str] = ""
    spec: ClassVar[tuple[str, ...]] = ()
    about: ClassVar[About] = About.DEVICE
    gathers: ClassVar[bool] = False
    fixed: ClassVar[bool] = False
    __slots__ = ()

    @property
    def sound(self) -> bool:
        """Return whether picks the rule accepted can be held against `violations`."""
        return True

    def concerns(self, ask: Ask) -> bool:
        """Return whether the rule can ever object to a pick for this request."""
        return True

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        """Return whether the device is passed over as a candidate; the state stays as it is."""
        return False

    def leaves_out(self, ask: Ask, device: DeviceRow) -> bool:
        """Return whether allocationMode All does not record the device at all; asked before the search."""
        return self.rejects(ask, device)

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        """Take the device if the law allows it; a refusal leaves the rule's state as it was."""
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        """Give the device back: reverses exactly one successful `add`."""

    def settled(self, picks: Sequence[Pick]) -> Sequence[Pick]:
        """Return the picks, all of which it took, with what they turned out to consume if that is the rule's doing."""
        return picks

    @property
    def judges_all(self) -> bool:
        """Return whether `complete` can say no; engines that work on facts then do not know the whole law."""
        return type(self).complete is not Rule.complete

    def complete(self, picks: Sequence[Pick]) -> bool:
        """
        Return whether the law holds now that everything asked for is picked, looking at nothing but the picks.

        For what can be judged at the end only, such as "at least two values"; then `violations` has to agree.
        """
        return True

    def piecewise(self, asks: Sequence[Ask]) -> bool:
        """
        Return whether the facts about some devices are part of those about more, and rest on their attributes alone.

        Then equal slices have equal facts, whatever stands beside them.
        """
        return False

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        """Return whether the device could be the only pick; ask a rule in its first state."""
        return not self.rejects(ask, device)

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        """
        Return whether it allows every device of the slice for the request, whatever attributes the devices have.

        For a rule in its first state where nothing is allocated: what always holds of a slice need not be asked for
        each of its devices.
        """
        return False

    def bars(self, ask: Ask, row: SliceRow) -> bool:
        """Return whether it rejects every device of the slice in the same way."""
        return False

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        """Return how picks of these devices for these requests depend on each other."""
        return ()

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        """Return the reason for an objection in the present state."""
        return Reason(self.code, self.code)

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        """Return what is wrong with a finished set of picks, looking at nothing but them."""
        return ()
