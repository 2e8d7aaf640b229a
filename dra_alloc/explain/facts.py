"""
The facts a refusal can rest on, and the world without each of them.

What hardware is and that a dedicated device serves one claim are taken for
granted; everything here could be otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from dra_alloc.api import DeviceClass, DeviceSelector, DeviceTaint, DeviceToleration, FrozenMap, ResourceSlice
from dra_alloc.errors import first_few
from dra_alloc.explain.counts import number_of_devices
from dra_alloc.explain.world import World, edit_devices, edit_requests
from dra_alloc.problem.devices import PoolKey
from dra_alloc.problem.pools import Pool, gather
from dra_alloc.problem.requests import EXTENDED_CLAIM, claim_name, extended_resource
from dra_alloc.rules import barring, taint_name, tolerates

#: Of an expression that is named.
_MOST_CHARACTERS: Final = 80
#: How it is said that a claim goes, before its name.
FREEING: Final = "freeing claim "
#: How it is said that a taint goes, before its name.
REMOVING: Final = "removing the taint "
#: How it is said that a taint is put up with, before its name.
TOLERATING: Final = "tolerating the taint "
#: What it costs to change a class: others ask for its devices, too.
CLASS_COST: Final = 70


class Whose(IntEnum):
    """Whose affair a change is, the nearest first: of the manifest itself, of the cluster, or of who has devices."""

    MANIFEST = 0
    CLUSTER = 1
    OTHERS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """
    One thing that could be otherwise.

    `code` is a stable kebab-case reason code, `text` a lowercase statement;
    `fix` says how a person would change it, empty where nobody would;
    `whose` affair that is and its `cost` order fixes, cheapest first.
    `instead` is what somebody else would change, where that is another change.
    """

    code: str
    text: str
    without: Callable[[World], World]
    fix: str = ""
    cost: int = 0
    whose: Whose = Whose.MANIFEST
    instead: Fact | None = None


def facts_of(world: World) -> tuple[Fact, ...]:
    """
    Return the facts of a world, in the order in which an explanation tries to do without them.

    All wants every device that its selectors leave, also those that others
    hold: without its selectors a refusal would rest on holders of what nobody
    asked for.
    """
    asked, held = (*_selectors(world), *_classes(world)), tuple(_holders(world))
    return (
        *_constraints(world),
        *_counters(world),
        *_taints(world),
        *_pools(world),
        *((*held, *asked) if world.takes_all else (*asked, *held)),
        *_requests(world),
    )


def called(world: World, index: int, name: str) -> str:
    """Return what a request is called: the extended resource a pod asked for, or its name, with its claim's."""
    claim = world.claims[index]
    asks = {full: world.classes.get(ask.device_class_name) for at, full, ask in world.asks() if at == index}
    resources = {full: extended_resource(claim, each) for full, each in asks.items() if each is not None}
    resource = resources.get(name)
    if resource and list(resources.values()).count(resource) == 1:
        return resource
    return f"{resource} ({name})" if resource else f'request "{name}"{_owner(world, index)}'


def _owner(world: World, index: int) -> str:
    """Return which claim is meant, where there are several."""
    return f" of claim {claim_name(world.claims[index])}" if len(world.claims) > 1 else ""


def _constraints(world: World) -> Iterator[Fact]:
    for index, claim in enumerate(world.claims):
        # What is said twice is one fact: without only one of them nothing would be another.
        for said in dict.fromkeys(each.said for each in claim.spec.devices.constraints if each.said):
            yield Fact(
                "constraint",
                f"claim {claim_name(claim)} wants {said}",
                _without_constraints(index, said),
                f"dropping {said}{_owner(world, index)}",
                40,
            )


def _without_constraints(index: int, said: str) -> Callable[[World], World]:
    def without(world: World) -> World:
        devices = world.claims[index].spec.devices
        kept = tuple(each for each in devices.constraints if each.said != said)
        return world.with_claim(index, devices.model_copy(update={"constraints": kept}))

    return without


def _counters(world: World) -> Iterator[Fact]:
    for pool in world.pools():
        slices = [each for each in world.slices if (each.spec.driver, each.spec.pool.name) == pool]
        if any(device.consumes_counters for each in slices for device in each.spec.devices):
            text = f"devices of pool {_pool_name(world, pool)} share the hardware behind them"
            yield Fact("shared-counters", text, _uncounted(pool))


def _pool_name(world: World, pool: PoolKey) -> str:
    """Return the pool's name, with its driver where another driver has a pool of that name."""
    return pool.pool if sum(each.pool == pool.pool for each in world.pools()) == 1 else f"{pool.pool} ({pool.driver})"


def _uncounted(pool: PoolKey) -> Callable[[World], World]:
    def free(each: ResourceSlice) -> ResourceSlice:
        devices = tuple(_copy(device, consumes_counters=()) for device in each.spec.devices)
        return _with_spec(each, devices=devices)

    return lambda world: world.having(slices=edit_devices(world.slices, pool, free))


def _taints(world: World) -> Iterator[Fact]:
    seen: dict[tuple[str, str, str], DeviceTaint] = {}
    # An incomplete pool offers nothing yet; what its devices are counts once it is complete.
    complete = world
    for incomplete in _pools(world):
        complete = incomplete.without(complete)
    for pool in gather(complete.inventory(), world.node, world.profile):
        for device in pool.devices:
            for taint in barring(device, world.profile):
                seen.setdefault((taint.key, taint.value or "", taint.effect), taint)
    # What a pod asks for as an extended resource tolerates nothing.
    extended = any(claim.metadata.annotations.get(EXTENDED_CLAIM) == "true" for claim in world.claims)
    for taint in seen.values():
        name = taint_name(taint)
        if not all(any(tolerates(each, taint) for each in ask.tolerations) for _, _, ask in world.asks()):
            removing, without = _removing(world, taint, name)
            fix = removing if extended else f"{TOLERATING}{name}"
            whose = Whose.CLUSTER if extended else Whose.MANIFEST
            text = f"devices have the taint {name}"
            removed = Fact("taint", text, without, removing, 25, Whose.CLUSTER)
            yield Fact("taint", text, _tolerating(taint), fix, 20, whose, None if extended else removed)


def _removing(world: World, taint: DeviceTaint, name: str) -> tuple[str, Callable[[World], World]]:
    """Return what it is to remove a taint: to delete the rules that it comes from, if it comes from these alone."""
    rules = sorted([each.metadata.name or "" for each in world.taint_rules if _same(each.spec.taint, taint)])
    devices = (device for each in world.slices for device in each.spec.devices)
    if not rules or any(_same(each, taint) for device in devices for each in device.taints):
        return f"{REMOVING}{name}", _untainted(taint)
    return f"deleting DeviceTaintRule {first_few(rules)}", lambda changed: changed.having(
        taint_rules=tuple([each for each in changed.taint_rules if (each.metadata.name or "") not in rules])
    )


def _same(one: DeviceTaint, other: DeviceTaint) -> bool:
    return (one.key, one.value or "", one.effect) == (other.key, other.value or "", other.effect)


def _tolerating(taint: DeviceTaint) -> Callable[[World], World]:
    toleration = DeviceToleration(key=taint.key, operator="Equal", value=taint.value or None, effect=taint.effect)

    def edit(index: int, name: str, ask: Any) -> Any:
        return ask.model_copy(update={"tolerations": (*ask.tolerations, toleration)})

    return lambda world: edit_requests(world, edit)


def _untainted(taint: DeviceTaint) -> Callable[[World], World]:
    def other(each: DeviceTaint) -> bool:
        return not _same(each, taint)

    def clean(each: ResourceSlice) -> ResourceSlice:
        if all(other(found) for device in each.spec.devices for found in device.taints):
            return each
        devices = [_copy(device, taints=tuple(filter(other, device.taints))) for device in each.spec.devices]
        return _with_spec(each, devices=tuple(devices))

    def without(world: World) -> World:
        rules = tuple([rule for rule in world.taint_rules if other(rule.spec.taint)])
        return world.having(slices=tuple(map(clean, world.slices)), taint_rules=rules)

    return without


def _pools(world: World) -> Iterator[Fact]:
    for pool in gather(world.inventory(), world.node, world.profile):
        if pool.incomplete:
            yield Fact(
                "pool-incomplete",
                f"pool {_pool_name(world, pool.key)} has {pool.slices_found} of {pool.slices_wanted} slices",
                _completed(pool.key, pool.slices_found),
                _publishing(pool),
                30,
                Whose.CLUSTER,
            )


def _publishing(pool: Pool) -> str:
    missing = "slice" if pool.slices_wanted - pool.slices_found == 1 else "slices"
    seen = f"{pool.slices_found} of {pool.slices_wanted} seen"
    return f"having {pool.key.driver} publish the missing {missing} of pool {pool.key.pool} ({seen})"


def _completed(pool: PoolKey, found: int) -> Callable[[World], World]:
    def complete(each: ResourceSlice) -> ResourceSlice:
        return _with_spec(each, pool=_copy(each.spec.pool, resource_slice_count=found))

    return lambda world: world.having(slices=edit_devices(world.slices, pool, complete))


def _selectors(world: World) -> Iterator[Fact]:
    for index, name, ask in world.asks():
        which = called(world, index, name)
        for number, each in enumerate(ask.selectors):
            yield Fact(
                "selector",
                f"selector {number} of {which} is {each.cel.expression if each.cel is not None else ''}",
                _without_selector(index, name, number),
                f"dropping {selector_called(ask.selectors, number)} of {which}",
                50,
            )


def selector_called(selectors: Sequence[DeviceSelector], number: int) -> str:
    """Return what one of several selectors is called: by its expression, and its number if another looks the same."""
    shown = [_in_brief(each.cel.expression if each.cel is not None else "") for each in selectors]
    place = f" (number {number})" if shown.count(shown[number]) > 1 else ""
    return f"the selector {shown[number]}{place}"


def _in_brief(expression: str) -> str:
    """Return an expression in one line, by which whoever wrote it knows it again."""
    line = " ".join(expression.split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS].rstrip()} ..."


_TRUE = {"cel": {"expression": "true"}}


def _without_selector(claim: int, name: str, number: int) -> Callable[[World], World]:
    def edit(index: int, full_name: str, ask: Any) -> Any:
        if (index, full_name) != (claim, name):
            return ask
        anything = type(ask.selectors[number]).from_wire(_TRUE)
        return ask.model_copy(update={"selectors": (*ask.selectors[:number], anything, *ask.selectors[number + 1 :])})

    return lambda world: edit_requests(world, edit)


def _classes(world: World) -> Iterator[Fact]:
    names = dict.fromkeys(ask.device_class_name for _, _, ask in world.asks())
    for name in names:
        found = world.classes.get(name)
        if found is not None and found.spec.selectors:
            yield Fact(
                "class",
                f"class {name} selects its devices",
                _any_device(name, found),
                f"changing what class {name} selects",
                CLASS_COST,
                Whose.CLUSTER,
            )


def _any_device(name: str, found: DeviceClass) -> Callable[[World], World]:
    anything = _copy(found, spec=_copy(found.spec, selectors=()))
    return lambda world: world.having(classes=FrozenMap({**world.classes, name: anything}))


def _holders(world: World) -> Iterator[Fact]:
    for name, allocation in world.allocations.items():
        count = sum(not each.admin_access for each in allocation.devices.results)
        text = f"claim {name} holds {number_of_devices(count)}"
        users = world.going.get(name)
        if users is None:
            yield Fact("holder", text, _freed(name), f"{FREEING}{name}", 10, Whose.OTHERS)
        else:
            why = f"it is being deleted{f', in use by {users}' if users else ''}"
            yield Fact("holder", f"{text}: {why}", _freed(name), f"the end of claim {name} ({why})", 10, Whose.OTHERS)


def _freed(name: str) -> Callable[[World], World]:
    return lambda world: world.having(
        allocations=FrozenMap({each: held for each, held in world.allocations.items() if each != name})
    )


def _requests(world: World) -> Iterator[Fact]:
    several = sum(len(claim.spec.devices.requests) for claim in world.claims) > 1
    for index, claim in enumerate(world.claims):
        for request in claim.spec.devices.requests:
            which = called(world, index, request.name)
            asks = f'has the request "{request.name}"' if which.startswith("request ") else f"asks for {which}"
            yield Fact(
                "request",
                f"claim {claim_name(claim)} {asks}",
                _without_request(index, request.name),
                f"dropping {_whole_claim(world, index) or which}" if several else "",
                60,
            )


def _whole_claim(world: World, index: int) -> str:
    """Return the claim that goes with its only request, if a person made it and there are others."""
    claim = world.claims[index]
    alone = len(claim.spec.devices.requests) == 1 and len(world.claims) > 1
    return f"claim {claim_name(claim)}" if alone and claim.metadata.annotations.get(EXTENDED_CLAIM) != "true" else ""


def _without_request(index: int, name: str) -> Callable[[World], World]:
    def without(world: World) -> World:
        devices = world.claims[index].spec.devices
        requests = tuple(each for each in devices.requests if each.name != name)
        return world.with_claim(index, devices.model_copy(update={"requests": requests}))

    return without


def _copy(item: Any, **changes: Any) -> Any:
    """Return a wire object, model or record, with members replaced."""
    return item.model_copy(update=changes)


def _with_spec(each: ResourceSlice, **changes: Any) -> ResourceSlice:
    changed: ResourceSlice = _copy(each, spec=_copy(each.spec, **changes))
    return changed
