"""
What constraints that compare one attribute have in common, and what there is to say of a kind of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dra_alloc.api import DeviceAttribute
from dra_alloc.api.constraints import DeviceConstraint
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Profile
from dra_alloc.rules.base import About, Context, Reason, Rule
from dra_alloc.rules.constraints.attribute_source import AttributeSource
from dra_alloc.rules.constraints.attribute_values import lacking
from dra_alloc.rules.facts import Agree, Differ, Fact, Unmodelled


@dataclass(frozen=True, slots=True)
class ConstraintRule:
    """
    How one kind of constraint is kept: the rule for a constraint of a claim, and whether the allocator knows it.

    `codes` are the reason codes of its own, each with what it means. `form` is the fact that says all of its law, if
    one does: devices that agree, or differ.
    """

    make: Callable[[ClaimRow, DeviceConstraint, Context], Rule]
    codes: Mapping[str, str]
    known: Callable[[Profile], bool] = lambda profile: True
    form: type[Agree | Differ] | None = None


class AttributeConstraint(Rule):
    """
    A constraint over the devices of a claim's requests; without more it can be searched for, but not modelled.

    `_said` is how the constraint is said, `_source` reads the attribute compared.
    """

    about = About.CONSTRAINT
    __slots__ = ("_attribute", "_claim", "_kind", "_names", "_said", "_source")

    def __init__(self, claim: ClaimRow, constraint: DeviceConstraint, context: Context) -> None:
        stated = constraint.stated
        self._claim = claim.index
        self._names = constraint.requests
        self._said = str(stated)
        self._kind = "" if stated is None else stated.kind.wire
        self._attribute = "" if stated is None else stated.attribute
        self._source = AttributeSource(context, self._attribute)

    def concerns(self, ask: Ask) -> bool:
        return ask.claim == self._claim and ask.named_by(self._names)

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        yield Unmodelled(f"{self._said} can be searched for only")

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        attribute = self._source.read(ask, device)
        if attribute is None:
            return Reason("attribute-missing", lacking(self._attribute, self._kind))
        return Reason(self.code, self._objection(attribute))

    def _objection(self, attribute: DeviceAttribute) -> str:
        """Return what is wrong with a device that has this attribute, in the present state."""
        return self.code
