"""
Picks to AllocationResults, complete as the scheduler would write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

from dra_alloc.api import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceToleration,
    FrozenMap,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Quantity,
)
from dra_alloc.api._base import Mould
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.profiles import Feature, Profile, Trait
from dra_alloc.rules import Pick, SearchStopped, consumption

#: Says what a pick of a device that can be shared consumes.
Consumed: TypeAlias = Callable[[Ask, DeviceRow], FrozenMap[str, Quantity]]
_Device: TypeAlias = DeviceRequestAllocationResult


class Forms(NamedTuple):
    """
    What results of the same claims have in common, on whatever node.

    By claim what makes the results of its devices, whose configuration is known; by request, as they are numbered
    through, what makes the result of a device that it has to itself, and of one that it has a share of, if the
    allocator knows shares, and what such a share consumes.
    """

    claims: tuple[Mould[DeviceAllocationResult], ...]
    requests: tuple[tuple[Mould[_Device], Mould[_Device]], ...]
    profile: Profile
    sharing: bool
    consumed: Consumed


def forms_of(
    claims: Sequence[ClaimRow],
    selected: Mapping[tuple[int, int], Ask],
    profile: Profile,
    consumed: Consumed | None = None,
) -> Forms:
    """Return the forms for claims whose requests are served by these alternatives; `consumed` where that is known."""
    found = []
    for claim in claims:
        chosen = [selected.get((claim.index, index), request.asks[0]) for index, request in enumerate(claim.requests)]
        found.append(Mould.of(DeviceAllocationResult, "results", config=_config(claim, chosen, profile)))
    asks = [ask for claim in claims for request in claim.requests for ask in request.asks]
    named = [_of_request(ask.full_name, ask.admin, ask.tolerations, profile) for ask in asks]
    return Forms(tuple(found), tuple(named), profile, profile.shares, consumed or partial(_consumed, profile))


def _consumed(profile: Profile, ask: Ask, device: DeviceRow) -> FrozenMap[str, Quantity]:
    return FrozenMap(consumption(device, ask, profile) or {})


@lru_cache(maxsize=1_024)
def _of_request(
    name: str, admin: bool, tolerations: tuple[DeviceToleration, ...], profile: Profile
) -> tuple[Mould[_Device], Mould[_Device]]:
    """Return the forms of a request: one and the same for all that are called alike, as most are."""
    known: dict[str, Any] = {"request": name}
    if admin:
        known["admin_access"] = True
    if tolerations and not profile.shows(Trait.NO_RESULT_TOLERATIONS):
        known["tolerations"] = tolerations
    whole = "driver", "pool", "device"
    return Mould.of(_Device, *whole, **known), Mould.of(_Device, *whole, "share_id", "consumed_capacity", **known)


def assemble(
    claims: Sequence[ClaimRow], picks: Sequence[Pick], forms: Forms, node: Node, new_share_id: Callable[[], str]
) -> tuple[AllocationResult, ...]:
    """
    Return one result per claim, in order; `new_share_id` makes UUIDs.

    Spec: RESULT-1..RESULT-9.
    Raises: SearchStopped for a node selector that cannot be merged.
    """
    own: list[Sequence[Pick]] = [picks] if len(claims) == 1 else _by_claim(claims, picks)
    return tuple(
        [
            _ALLOCATION.made(
                devices=form.made(results=tuple([_result(ask, device, forms, new_share_id) for ask, device in each])),
                node_selector=_node_selector(claim, each, node, forms.profile),
            )
            for claim, form, each in zip(claims, forms.claims, own, strict=True)
        ]
    )


def _by_claim(claims: Sequence[ClaimRow], picks: Sequence[Pick]) -> list[Sequence[Pick]]:
    own: list[list[Pick]] = [[] for _ in claims]
    for pick in picks:
        own[pick.ask.claim].append(pick)
    return [*own]


_ALLOCATION: Final = Mould.of(AllocationResult, "devices", "node_selector")


def _result(ask: Ask, device: DeviceRow, forms: Forms, new_share_id: Callable[[], str]) -> _Device:
    driver, pool, name = device.key
    whole, share = forms.requests[ask.id]
    if device.shareable and forms.sharing:
        made = share.made(
            driver=driver,
            pool=pool,
            device=name,
            share_id=new_share_id(),
            consumed_capacity=forms.consumed(ask, device),
        )
    else:
        form, known = device.told
        if form is whole:
            told: _Device = known
            return told
        made = whole.made(driver=driver, pool=pool, device=name)
    more = _conditions(device, forms.profile)
    made = made.replaced(**more) if more else made
    if made.share_id is None:
        device.told = whole, made
    return made


def _conditions(device: DeviceRow, profile: Profile) -> dict[str, Any]:
    """Return what few devices have."""
    more: dict[str, Any] = {}
    # What most devices lack comes first: then nothing need be asked of the profile.
    if device.has_binding_conditions and profile.on(Feature.BINDING):
        more["binding_conditions"] = device.wire.binding_conditions
    if device.wire.binding_failure_conditions and profile.on(Feature.BINDING):
        more["binding_failure_conditions"] = device.wire.binding_failure_conditions
    skipped = device.slice.wire.spec.skip_node_operations
    if skipped and profile.on(Feature.OPTIONAL_NODE_OPERATIONS):
        more["skip_node_operations"] = skipped
    return more


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


def _node_selector(claim: ClaimRow, picks: Sequence[Pick], node: Node, profile: Profile) -> NodeSelector | None:
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for _, device in picks:
        if device.slice.is_local:
            return _bound_to(node.metadata.name)
        place = device.wire if device.slice.per_device else device.slice.wire.spec
        binds = device.wire.binds_to_node is True and not profile.shows(Trait.NO_BINDS_TO_NODE)
        if place.node_name or binds:
            return _bound_to(node.metadata.name)
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
