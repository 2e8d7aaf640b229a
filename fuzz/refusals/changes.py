"""
What a person could change about a refused world, by the words in which the command tells of it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fuzz.refusals.drawing import DRIVER, RESOURCE, Json, asks

_SAID = ("matchAttribute", "distinctAttribute")
_GUARDING = re.compile(
    r"guarding (\w+) with has\(\) in the selector (.+?)(?: \(number (\d+)\))? of ((?:request|class) .+)"
)
_GUARDED = re.compile(r"changing the selector(?: \(number (\d+)\))? of ((?:request|class) .+?) to (has\(.+)")
_WRITING = re.compile(r'writing "([^"]+)" for "([^"]+)" in (.+)')
_READ = re.compile(r'(attributes|capacity)\["([^"]+)"\]\.(\w+)')


@dataclass(frozen=True, slots=True)
class Change:
    """
    One change: how it is proposed, how the fact begins that it does away with, and what it does to the objects.

    What nobody would change has no `fix`, what is no fact no `fact`.
    """

    fix: str
    fact: str
    make: Callable[[Json], None]

    def of(self, world: Json) -> Json:
        """Return the world with the change made."""
        made: Json = pickle.loads(pickle.dumps(world))
        self.make(made)
        return made


def all_of(world: Json, kind: str) -> list[Json]:
    """Return the objects of a kind."""
    return [each for each in world["objects"] if each["kind"] == kind]


def pod_of(world: Json) -> Json:
    """Return what is said of the pod that asks."""
    spec: Json = all_of(world, "Pod")[-1]["spec"]
    return spec


def _sources(world: Json) -> dict[str, tuple[Json, Json]]:
    """Return the entries of the pod and the objects behind them, by the names of the claims that it has then."""
    named = {(each["kind"], each["metadata"]["name"]): each for each in world["objects"]}
    found = {}
    for entry in pod_of(world)["resourceClaims"]:
        if "resourceClaimName" in entry:
            found[f"ns/{entry['resourceClaimName']}"] = entry, named["ResourceClaim", entry["resourceClaimName"]]
        else:
            template = named["ResourceClaimTemplate", entry["resourceClaimTemplateName"]]
            found[f"ns/pod-{entry['name']}-00000"] = entry, template
    return found


def _pending(world: Json) -> dict[str, Json]:
    """Return what the pod's claims ask for, by their names."""
    specs = {name: source["spec"] for name, (_, source) in _sources(world).items()}
    return {name: spec.get("spec", spec)["devices"] for name, spec in specs.items()}


def _extended(world: Json) -> int:
    """Return how much of the extended resource the pod asks for."""
    return int(pod_of(world)["containers"][0]["resources"].get("limits", {}).get(RESOURCE, 0))


def is_asking(world: Json) -> bool:
    """Return whether the pod asks for any devices."""
    return bool(_pending(world) or _extended(world))


def _of_pool(world: Json, pool: str) -> list[Json]:
    return [each["spec"] for each in all_of(world, "ResourceSlice") if each["spec"]["pool"]["name"] == pool]


def changes_of(world: Json, node: str) -> Iterator[Change]:
    """Yield every change to claims and to the devices of a node, of all kinds that do not have an amount."""
    yield from _of_claims(world)
    yield from _of_classes(world)
    yield from _of_holders(world)
    yield from _of_slices(world)
    yield from _of_taints(world, node)


def guarding(world: Json, step: str) -> Change | None:
    """Return what a step means that guards a selector; None for another step."""
    if guarded := _GUARDED.fullmatch(step):
        return Change(step, "", _selecting(guarded[2].split(", "), guarded[1], guarded[3]))
    found = _GUARDING.fullmatch(step)
    if found is None:
        return None
    key, said, owners = found[1], found[2], found[4].split(", ")

    def make(made: Json) -> None:
        for owner, selectors in _selectors(made):
            alike = [number for number, each in enumerate(selectors) if _shown(each) == said]
            if owner in owners and alike:
                selector = selectors[alike[0] if found[3] is None else int(found[3])]["cel"]
                read = next(each for each in _READ.findall(selector["expression"]) if each[2] == key)
                selector["expression"] = f'has(device.{read[0]}["{read[1]}"].{key}) && ({selector["expression"]})'

    return Change(step, "", make)


def _selecting(owners: Sequence[str], number: str | None, expression: str) -> Callable[[Json], None]:
    """Return what writes an expression in place of the selectors that are a part of it."""

    def make(made: Json) -> None:
        for owner, selectors in _selectors(made):
            alike = [each["cel"] for each in selectors if expression.endswith(f" && ({each['cel']['expression']})")]
            if owner in owners and alike:
                alike[0 if number is None else int(number)]["expression"] = expression

    return make


def writing(world: Json, step: str) -> Change | None:
    """Return what a step means that writes a value in selectors otherwise; None for another step."""
    found = _WRITING.fullmatch(step)
    if found is None:
        return None

    def make(made: Json) -> None:
        for owner, selectors in _selectors(made):
            for each in selectors if owner == found[3] else ():
                each["cel"]["expression"] = each["cel"]["expression"].replace(f'"{found[2]}"', f'"{found[1]}"')

    return Change(step, "", make)


def _shown(selector: Json) -> str:
    """Return as much of a selector as is told of it."""
    expression: str = selector["cel"]["expression"]
    return f"{expression[:80]}{' ...' if len(expression) > 80 else ''}"


def _selectors(world: Json) -> Iterator[tuple[str, list[Json]]]:
    """Yield the selectors of all requests and classes, by whose they are called."""
    for name, devices in _pending(world).items():
        for request, ask in asks(devices):
            yield f'request "{request}"{_owner(world, name)}', ask.get("selectors", [])
    for each in all_of(world, "DeviceClass"):
        yield f"class {each['metadata']['name']}", each["spec"]["selectors"]


def asking_for(world: Json) -> Iterator[tuple[int, Callable[[int], Change]]]:
    """Yield, per number of devices and amount of memory above 1, what is asked for and what asking for less is."""
    for claim, devices in _pending(world).items():
        for name, ask in asks(devices):
            if ask.get("count", 1) > 1:
                yield ask["count"], _counting(world, claim, name, ask["count"])
            if "capacity" in ask:
                wanted = int(ask["capacity"]["requests"]["mem"].removesuffix("Gi"))
                yield wanted, _measuring(world, claim, name, wanted)
    extended = _extended(world)
    if extended > 1:
        yield extended, _counting_extended(extended)


def _counting(world: Json, claim: str, name: str, wanted: int) -> Callable[[int], Change]:
    def counting(count: int) -> Change:
        def make(made: Json) -> None:
            dict(asks(_pending(made)[claim]))[name]["count"] = count

        which = f'request "{name}"{_owner(world, claim)}'
        return Change(f"asking for {count} instead of {wanted} devices in {which}", "", make)

    return counting


def _measuring(world: Json, claim: str, name: str, wanted: int) -> Callable[[int], Change]:
    def measuring(amount: int) -> Change:
        def make(made: Json) -> None:
            dict(asks(_pending(made)[claim]))[name]["capacity"]["requests"]["mem"] = f"{amount}Gi"

        which = f'request "{name}"{_owner(world, claim)}'
        return Change(f"asking for {amount}Gi instead of {wanted}Gi mem in {which}", "", make)

    return measuring


def _counting_extended(wanted: int) -> Callable[[int], Change]:
    def counting(count: int) -> Change:
        def make(made: Json) -> None:
            pod_of(made)["containers"][0]["resources"]["limits"][RESOURCE] = count

        return Change(f"asking for {count} instead of {wanted} {RESOURCE}", "", make)

    return counting


def _owner(world: Json, claim: str) -> str:
    return f" of claim {claim}" if len(_pending(world)) + bool(_extended(world)) > 1 else ""


def _of_claims(world: Json) -> Iterator[Change]:
    pending, extended = _pending(world), _extended(world)
    several = sum(len(each["requests"]) for each in pending.values()) + bool(extended) > 1
    for name, devices in pending.items():
        owner = _owner(world, name)
        for said in dict.fromkeys(map(_said, devices.get("constraints", ()))):
            yield Change(f"dropping {said}{owner}", f"claim {name} wants {said}", _no_constraint(name, said))
        for request, ask in asks(devices):
            of = f'of request "{request}"{owner}'
            shown = list(map(_shown, ask.get("selectors", ())))
            for number in range(len(shown)):
                place = f" (number {number})" if shown.count(shown[number]) > 1 else ""
                fix = f"dropping the selector {shown[number]}{place} {of}"
                yield Change(fix, f"selector {number} {of} is ", _no_selector(name, request, number))
        for request in (each["name"] for each in devices["requests"]):
            whole = owner and len(devices["requests"]) == 1
            fix = f"dropping claim {name}" if whole else f'dropping request "{request}"{owner}' if several else ""
            yield Change(fix, f'claim {name} has the request "{request}"', _no_request(name, request))
    if extended:
        fact = f"claim ns/pod-extended-resources asks for {RESOURCE}"
        yield Change(f"dropping {RESOURCE}" if several else "", fact, _no_extended)


def _no_extended(world: Json) -> None:
    del pod_of(world)["containers"][0]["resources"]["limits"]


def _said(constraint: Json) -> str:
    kind = next(each for each in _SAID if each in constraint)
    on = f" on {', '.join(constraint['requests'])}" if constraint.get("requests") else ""
    return f"{kind} {constraint[kind]}{on}"


def _no_constraint(name: str, said: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        devices = _pending(world)[name]
        devices["constraints"] = [each for each in devices["constraints"] if _said(each) != said]

    return make


def _no_selector(name: str, request: str, number: int) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        dict(asks(_pending(world)[name]))[request]["selectors"][number]["cel"]["expression"] = "true"

    return make


def _no_request(name: str, request: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        devices = _pending(world)[name]
        devices["requests"] = [each for each in devices["requests"] if each["name"] != request]
        constraints = devices.get("constraints", ())
        devices["constraints"] = [each for each in constraints if each.get("requests", []) != [request]]
        if not devices["requests"]:
            # A claim for nothing is not made.
            entry, source = _sources(world)[name]
            world["objects"].remove(source)
            pod_of(world)["resourceClaims"].remove(entry)
            pod_of(world)["containers"][0]["resources"]["claims"].remove({"name": entry["name"]})

    return make


def _of_classes(world: Json) -> Iterator[Change]:
    asked = {ask["deviceClassName"] for devices in _pending(world).values() for _, ask in asks(devices)}
    asked |= {"gpu"} if _extended(world) else set()
    for each in all_of(world, "DeviceClass"):
        name = each["metadata"]["name"]
        if each["spec"]["selectors"] and name in asked:
            yield Change(f"changing what class {name} selects", f"class {name} selects its devices", _any_device(name))


def _any_device(name: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for each in (each for each in all_of(world, "DeviceClass") if each["metadata"]["name"] == name):
            each["spec"]["selectors"] = []

    return make


def _of_holders(world: Json) -> Iterator[Change]:
    for name in (each["metadata"]["name"] for each in all_of(world, "ResourceClaim") if "status" in each):
        yield Change(f"freeing claim ns/{name}", f"claim ns/{name} holds ", freed(name))


def freed(name: str) -> Callable[[Json], None]:
    """Return what takes a claim away."""

    def make(world: Json) -> None:
        claims = [each for each in all_of(world, "ResourceClaim") if each["metadata"]["name"] == name]
        world["objects"] = [each for each in world["objects"] if each not in claims]

    return make


def _of_slices(world: Json) -> Iterator[Change]:
    for name in dict.fromkeys(each["spec"]["pool"]["name"] for each in all_of(world, "ResourceSlice")):
        specs = _of_pool(world, name)
        wanted = specs[0]["pool"]["resourceSliceCount"]
        if wanted != len(specs):
            missing = f"the missing slice{'' if wanted - len(specs) == 1 else 's'} of pool {name}"
            step = f"having {specs[0]['driver']} publish {missing} ({len(specs)} of {wanted} seen)"
            yield Change(step, f"pool {name} has ", _complete(name, len(specs)))
        if any("consumesCounters" in device for spec in specs for device in spec.get("devices", ())):
            yield Change("", f"devices of pool {name} share the hardware behind them", _uncounted(name))


def _complete(pool: str, count: int) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for spec in _of_pool(world, pool):
            spec["pool"]["resourceSliceCount"] = count

    return make


def _uncounted(pool: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for spec in _of_pool(world, pool):
            for device in spec.get("devices", ()):
                # What hides a slice is not what its devices share.
                if not any("compatibilityGroups" in each for each in device.get("consumesCounters", ())):
                    device.pop("consumesCounters", None)

    return make


def _of_taints(world: Json, node: str) -> Iterator[Change]:
    specs = [each["spec"] for each in all_of(world, "ResourceSlice") if each["spec"]["driver"] == DRIVER]
    pools = {each["pool"]["name"] for each in specs if each.get("nodeName", node) == node}
    added = [each for each in all_of(world, "DeviceTaintRule") if each["spec"]["deviceSelector"]["pool"] in pools]
    own = [taint for spec in specs for taint in _taints_in(spec)]
    here = [taint for spec in specs if spec["pool"]["name"] in pools for taint in _taints_in(spec)]
    taints = [*own, *(each["spec"]["taint"] for each in all_of(world, "DeviceTaintRule"))]
    for key, value, effect in dict.fromkeys(map(_kind_of, taints)):
        name = f"{key}{'=' if value else ''}{value}:{effect}"
        fact = f"devices have the taint {name}"
        rules = [each for each in added if _kind_of(each["spec"]["taint"]) == (key, value, effect)]
        step, change = f"removing the taint {name}", _untainted(key, value, effect)
        if rules and (key, value, effect) not in map(_kind_of, here):
            names = sorted(each["metadata"]["name"] for each in rules)
            step, change = f"deleting DeviceTaintRule {', '.join(names)}", _unruled(names)
        if _extended(world):
            yield Change(step, fact, change)
        else:
            tolerated = _tolerated({"key": key, "operator": "Equal", "value": value, "effect": effect})
            yield Change(f"tolerating the taint {name}", fact, tolerated)
            yield Change(step, "", change)


def _taints_in(spec: Json) -> list[Json]:
    return [taint for device in spec.get("devices", ()) for taint in device.get("taints", ())]


def _kind_of(taint: Json) -> tuple[str, str, str]:
    return taint["key"], taint["value"], taint["effect"]


def _unruled(names: Sequence[str]) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        rules = [each for each in all_of(world, "DeviceTaintRule") if each["metadata"]["name"] in names]
        world["objects"] = [each for each in world["objects"] if each not in rules]

    return make


def _tolerated(toleration: Json) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for devices in _pending(world).values():
            for _, ask in asks(devices):
                ask.setdefault("tolerations", []).append(toleration)

    return make


def _untainted(*taint: str) -> Callable[[Json], None]:
    def same(each: Json) -> bool:
        return _kind_of(each) == taint

    def make(world: Json) -> None:
        rules = [each for each in all_of(world, "DeviceTaintRule") if same(each["spec"]["taint"])]
        world["objects"] = [each for each in world["objects"] if each not in rules]
        for spec in (each["spec"] for each in all_of(world, "ResourceSlice")):
            for device in spec.get("devices", ()):
                device["taints"] = [each for each in device.get("taints", ()) if not same(each)]

    return make
