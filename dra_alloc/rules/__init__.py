"""
What makes a pick legal: one rule, one file.

The order of :func:`install` is the order of checks, and of explanations. What
others need of single rules is here, too; how a rule looks is in `base`, what it
can state as facts in `facts`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dra_alloc.api import DeviceConstraint
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule, SearchStopped
from dra_alloc.rules.binding_conditions import BindingConditions
from dra_alloc.rules.capacity.consumed import (
    PANICS,
    ConsumedCapacity,
    amounts_of,
    capacity_held,
    consumption,
    panic,
)
from dra_alloc.rules.capacity.growing import GrowingCapacity, can_grow
from dra_alloc.rules.capacity.negative import NegativeCapacity, can_be_negative
from dra_alloc.rules.capacity.policy import AmountError
from dra_alloc.rules.compatibility_groups import CompatibilityGroups
from dra_alloc.rules.constraints import CONSTRAINTS
from dra_alloc.rules.constraints.attribute_constraint import ConstraintRule
from dra_alloc.rules.constraints.attribute_values import describe, is_comparable, lacking
from dra_alloc.rules.counters.counters import Counters, CountersDisabled, available_counters
from dra_alloc.rules.counters.per_slice import CountersPerSlice
from dra_alloc.rules.exclusive_use import ExclusiveUse
from dra_alloc.rules.node_fit import NodeFit
from dra_alloc.rules.node_operations import NodeOperations
from dra_alloc.rules.selectors import Selectors
from dra_alloc.rules.taints import Taints, barring, taint_name, tolerates
from dra_alloc.rules.valid_pool import ValidPool

__all__ = [
    "CONSTRAINTS",
    "PANICS",
    "About",
    "AmountError",
    "Context",
    "Pick",
    "Reason",
    "Rule",
    "RuleSet",
    "SearchStopped",
    "amounts_of",
    "available_counters",
    "barring",
    "capacity_held",
    "constraint_rule",
    "constraint_rules",
    "consumption",
    "describe",
    "install",
    "is_comparable",
    "lacking",
    "panic",
    "taint_name",
    "tolerates",
]


def constraint_rule(constraint: DeviceConstraint, profile: Profile) -> ConstraintRule | None:
    """Return how the allocator keeps the constraint; None if it does not know its kind."""
    found = None if constraint.stated is None else CONSTRAINTS.get(constraint.stated.kind.wire)
    return found if found is not None and found.known(profile) else None


class RuleSet(Struct, frozen=True, eq=False):
    """
    The rules of one search.

    `candidate` rules are asked in order while a device is looked for, `take`
    rules in order when it is taken; `profile` says how the search itself goes.
    """

    candidate: tuple[Rule, ...]
    take: tuple[Rule, ...]
    profile: Profile

    def take_for(self, ask: Ask) -> tuple[Rule, ...]:
        """Return the take rules that can object to this request's picks."""
        return tuple(rule for rule in self.take if rule.concerns(ask))


def _consuming(context: Context, claims: Sequence[ClaimRow]) -> type[ConsumedCapacity]:
    if can_grow(context, claims):
        return GrowingCapacity
    return NegativeCapacity if can_be_negative(context, claims) else ConsumedCapacity


def constraint_rules(context: Context, claims: Sequence[ClaimRow]) -> tuple[Rule, ...]:
    """Return the rules of the claims' constraints alone, in order, with fresh state."""
    kinds = (
        (constraint_rule(constraint, context.profile), claim, constraint)
        for claim in claims
        for constraint in claim.wire.spec.devices.constraints
    )
    return tuple([kind.make(claim, constraint, context) for kind, claim, constraint in kinds if kind is not None])


def install(context: Context, claims: Sequence[ClaimRow]) -> RuleSet:
    """Return the rules for allocating the claims, with fresh state."""
    profile = context.profile
    exclusive = ExclusiveUse(context)
    sharing = profile.shares
    capacity = [_consuming(context, claims)(context)] if sharing else []
    binding = [] if profile.on(Feature.BINDING) else [BindingConditions()]
    counting = CountersPerSlice if profile.shows(Trait.COUNTERS_PER_SLICE) else Counters
    counters = counting(context) if profile.on(Feature.PARTITIONABLE) else CountersDisabled()
    valid = [ValidPool(context.pools)] if profile.shows(Trait.POOLS_AS_SEEN) else []
    grouping = profile.on(Feature.PARTITIONABLE) and profile.on(Feature.COMPATIBILITY_GROUPS)
    groups = [CompatibilityGroups(context)] if grouping else []
    operations = [NodeOperations(context)] if profile.shows(Trait.SKIPPING_NEEDS_NODE) else []
    taints = [Taints(profile)] if profile.on(Feature.TAINTS) else []
    constraints = constraint_rules(context, claims)
    return RuleSet(
        candidate=(*valid, exclusive, *binding, Selectors(context), NodeFit(context), *capacity),
        take=(exclusive, *operations, counters, *groups, *taints, *constraints, *capacity),
        profile=profile,
    )
