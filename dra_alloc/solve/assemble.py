"""
Picks to AllocationResults, complete as the scheduler would write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from dra_alloc.api import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    FrozenMap,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Quantity,
)
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules import Pick, SearchStopped, consumption

__all__ = ["Assembly", "Configs", "assemble", "configured"]


class Assembly(NamedTuple):
    """
    What results depend on besides the picks; `new_share_id` makes UUIDs.

    `amounts` tells what a pick of a device that can be shared consumes, where that is known already.
    """

    profile: Profile
    node: Node
    new_share_id: Callable[[], str]
    amounts: Callable[[Ask, DeviceRow], FrozenMap[str, Quantity] | None] = lambda ask, device: None

    def consumed(self, ask: Ask, device: DeviceRow) -> FrozenMap[str, Quantity]:
        """Return what a pick of a device that can be shared consumes."""
        known = self.amounts(ask, device)
        return FrozenMap(consumption(device, ask, self.profile) or {}) if known is None else known


#: The configuration of a claim's devices.
Configs: TypeAlias = tuple[DeviceAllocationConfiguration, ...]


def configured(
    claims: Sequence[ClaimRow], selected: Mapping[tuple[int, int], Ask], profile: Profile
) -> tuple[Configs, ...]:
    """Return the configuration for each claim, whose requests are served by these alternatives on whatever node."""
    found = []
    for claim in claims:
        chosen = [selected.get((claim.index, index), request.asks[0]) for index, request in enumerate(claim.requests)]
        found.append(_config(claim, chosen, profile))
    return tuple(found)


def assemble(
    claims: Sequence[ClaimRow], picks: Sequence[Pick], configs: Sequence[Configs], assembly: Assembly
) -> tuple[AllocationResult, ...]:
    """
    Return one result per claim, in order; `configs` has their configuration.

    Spec: RESULT-1..RESULT-9.
    Raises: SearchStopped for a node selector that cannot be merged.
    """
    results = []
    for claim, config in zip(claims, configs, strict=True):
        own = picks if len(claims) == 1 else [pick for pick in picks if pick.ask.claim == claim.index]
        devices = DeviceAllocationResult.made(results=_results(own, assembly), config=config)
        results.append(AllocationResult.made(devices=devices, node_selector=_node_selector(claim, own, assembly)))
    return tuple(results)


def _results(picks: Sequence[Pick], assembly: Assembly) -> tuple[DeviceRequestAllocationResult, ...]:
    profile = assembly.profile
    made = DeviceRequestAllocationResult.made
    results = []
    for ask, device in picks:
        driver, pool, name = device.key
        more: dict[str, Any] = {}
        # What most devices lack comes first: then nothing need be asked of the profile.
        if ask.admin:
            more["admin_access"] = True
        if ask.tolerations and not profile.shows(Trait.NO_RESULT_TOLERATIONS):
            more["tolerations"] = ask.tolerations
        if device.shareable and profile.shares:
            more["share_id"] = assembly.new_share_id()
            more["consumed_capacity"] = assembly.consumed(ask, device)
        if device.has_binding_conditions and profile.on(Feature.BINDING):
            more["binding_conditions"] = device.wire.binding_conditions
        if device.wire.binding_failure_conditions and profile.on(Feature.BINDING):
            more["binding_failure_conditions"] = device.wire.binding_failure_conditions
        skipped = device.slice.wire.spec.skip_node_operations
        if skipped and profile.on(Feature.OPTIONAL_NODE_OPERATIONS):
            more["skip_node_operations"] = skipped
        results.append(made(request=ask.full_name, driver=driver, pool=pool, device=name, **more))
    return tuple(results)


def _config(claim: ClaimRow, chosen: Sequence[Ask], profile: Profile) -> tuple[DeviceAllocationConfiguration, ...]:
    entries = [*_class_config(chosen), *_claim_config(claim, chosen, profile)]
    if not profile.shows(Trait.CONFIG_KEEPS_REQUESTS):
        entries = [_cleared(entry, chosen) for entry in entries]
    return tuple(entries)


def _class_config(chosen: Sequence[Ask]) -> list[DeviceAllocationConfiguration]:
    names: dict[str, list[str]] = {}
    for ask in chosen:
        names.setdefault(ask.class_name, []).append(ask.full_name)
    classes = {ask.class_name: ask.device_class for ask in chosen}
    return [
        DeviceAllocationConfiguration.made(source="FromClass", requests=tuple(names[name]), opaque=config.opaque)
        for name, device_class in classes.items()
        for config in device_class.spec.config
    ]


def _claim_config(claim: ClaimRow, chosen: Sequence[Ask], profile: Profile) -> list[DeviceAllocationConfiguration]:
    entries = []
    for config in claim.wire.spec.devices.config:
        covered = sum(ask.named_by(config.requests) for ask in chosen)
        times = covered if config.requests and profile.shows(Trait.CONFIG_PER_REQUEST) else min(covered, 1)
        if not config.requests:
            times = 1
        entry = DeviceAllocationConfiguration.made(source="FromClaim", requests=config.requests, opaque=config.opaque)
        entries += [entry] * times
    return entries


def _cleared(entry: DeviceAllocationConfiguration, chosen: Sequence[Ask]) -> DeviceAllocationConfiguration:
    if entry.requests and all(ask.named_by(entry.requests) for ask in chosen):
        return entry.replaced(requests=())
    return entry


def _node_selector(claim: ClaimRow, picks: Sequence[Pick], assembly: Assembly) -> NodeSelector | None:
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for _, device in picks:
        place = device.wire if device.slice.per_device else device.slice.wire.spec
        binds = device.wire.binds_to_node is True and not assembly.profile.shows(Trait.NO_BINDS_TO_NODE)
        if place.node_name or binds:
            return _bound_to(assembly.node.metadata.name)
        if place.node_selector is None:
            continue
        terms = place.node_selector.node_selector_terms
        if len(terms) > 1:
            raise SearchStopped(
                f"create NodeSelector for claim {claim.wire.metadata.name}: unsupported ResourceSlice.NodeSelector "
                f"with {len(terms)} terms",
                code="unsupported-node-selector",
            )
        for term in terms:
            _merge(fields, term.match_fields)
            _merge(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm.made(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector.made(node_selector_terms=(term,))


@lru_cache(maxsize=4096)
def _bound_to(name: str | None) -> NodeSelector:
    """Return what selects the node of a name; most allocations on a node have the same."""
    bound = NodeSelectorRequirement.made(key="metadata.name", operator="In", values=(name,))
    return NodeSelector.made(node_selector_terms=(NodeSelectorTerm.made(match_fields=(bound,)),))


def _merge(into: list[NodeSelectorRequirement], requirements: Sequence[NodeSelectorRequirement]) -> None:
    for new in requirements:
        if not any(_same(new, old) for old in into):
            # What was loaded is a record of the same members, which a result cannot hold.
            into.append(NodeSelectorRequirement.made(key=new.key, operator=new.operator, values=new.values))


def _same(left: NodeSelectorRequirement, right: NodeSelectorRequirement) -> bool:
    return (left.key, left.operator, set(left.values)) == (right.key, right.operator, set(right.values))
