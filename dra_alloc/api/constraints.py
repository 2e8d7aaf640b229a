"""
Constraints of a claim, and the one table of their kinds: what all others know of them they read here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from dra_alloc.api._base import KubeModel, List, PtrText, Text


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintKind:
    """
    One kind of constraint: a member of DeviceConstraint, of which one is to be set.

    `wire` and `member` are its names in JSON and in Python. What the member
    holds names the attribute compared, unless `attribute` says where else that
    is; `says` is how the value is said. Without the feature `gate` the API
    server drops the member.
    """

    wire: str
    member: str
    gate: str = ""
    attribute: Callable[[Any], str] = str
    says: Callable[[Any], str] = str


#: All kinds; the first that is set is what a constraint states.
CONSTRAINT_KINDS: Final = (
    ConstraintKind("matchAttribute", "match_attribute"),
    ConstraintKind("distinctAttribute", "distinct_attribute", gate="DRAConsumableCapacity"),
)


class Stated(NamedTuple):
    """What a constraint states: its kind, and what it holds."""

    kind: ConstraintKind
    value: Any

    @property
    def attribute(self) -> str:
        """Return the full name of the attribute compared."""
        return self.kind.attribute(self.value)

    def __str__(self) -> str:
        return f"{self.kind.wire} {self.kind.says(self.value)}"


class DeviceConstraint(KubeModel):
    """
    What the devices of some requests (of all, if none is named) must share or must not share.

    Attribute names are fully qualified. With several kinds set, only the first is validated.
    """

    requests: List[Text] = ()
    match_attribute: PtrText = None
    distinct_attribute: PtrText = None

    @property
    def stated(self) -> Stated | None:
        """Return what counts of it; None if it states nothing."""
        for kind in CONSTRAINT_KINDS:
            value = getattr(self, kind.member)
            if value is not None:
                return Stated(kind, value)
        return None

    @property
    def said(self) -> str:
        """Return how it is said, with the requests it binds; empty if it states nothing."""
        scope = f" on {', '.join(self.requests)}" if self.requests else ""
        return f"{self.stated}{scope}" if self.stated is not None else ""
