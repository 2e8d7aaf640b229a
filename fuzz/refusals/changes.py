"""
What a person could change about a refused world, by the words in which the command tells of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuzz.refusals.drawing import DRIVER, Json

__all__ = ["Change", "asking_for", "changes_of"]

_SAID = ("matchAttribute", "distinctAttribute")


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
        made = copy.deepcopy(world)
        self.make(made)
        return made


def _all(world: Json, kind: str) -> list[Json]:
    return [each for each in world["objects"] if each["kind"] == kind]


def _pending(world: Json) -> list[Json]:
    return [each for each in _all(world, "ResourceClaim") if "status" not in each]


def _claim(world: Json, name: str) -> Json:
    return next(each for each in _pending(world) if each["metadata"]["name"] == name)


def _asks(claim: Json) -> Iterator[tuple[str, Json]]:
    for request in claim["spec"]["devices"]["requests"]:
        if "exactly" in request:
            yield request["name"], request["exactly"]
        for sub in request.get("firstAvailable", ()):
            yield f"{request['name']}/{sub['name']}", sub


def _of_pool(world: Json, pool: str) -> list[Json]:
    return [each["spec"] for each in _all(world, "ResourceSlice") if each["spec"]["pool"]["name"] == pool]


def changes_of(world: Json) -> Iterator[Change]:
    """Yield every change, of all kinds that do not have an amount."""
    yield from _of_claims(world)
    yield from _of_classes(world)
    yield from _of_holders(world)
    yield from _of_slices(world)
    yield from _of_taints(world)


def asking_for(world: Json) -> Iterator[tuple[int, Callable[[int], Change]]]:
    """Yield, per request of more than one device, its count and what asking for fewer is."""
    for claim in _pending(world):
        for name, ask in _asks(claim):
            if ask.get("count", 1) > 1:
                yield ask["count"], _counting(world, claim["metadata"]["name"], name, ask["count"])


def _counting(world: Json, claim: str, name: str, wanted: int) -> Callable[[int], Change]:
    def counting(count: int) -> Change:
        def make(made: Json) -> None:
            dict(_asks(_claim(made, claim)))[name]["count"] = count

        devices = "device" if count == 1 and wanted == 1 else "devices"
        which = f'request "{name}"{_owner(world, claim)}'
        return Change(f"asking for {count} instead of {wanted} {devices} in {which}", "", make)

    return counting


def _owner(world: Json, claim: str) -> str:
    return f" of claim ns/{claim}" if len(_pending(world)) > 1 else ""


def _of_claims(world: Json) -> Iterator[Change]:
    several = sum(len(each["spec"]["devices"]["requests"]) for each in _pending(world)) > 1
    for each in _pending(world):
        name = each["metadata"]["name"]
        owner = _owner(world, name)
        devices = each["spec"]["devices"]
        for said in dict.fromkeys(map(_said, devices.get("constraints", ()))):
            yield Change(f"dropping {said}{owner}", f"claim ns/{name} wants {said}", _no_constraint(name, said))
        for request, ask in _asks(each):
            for number, _ in enumerate(ask.get("selectors", ())):
                which = f'selector {number} of request "{request}"{owner}'
                yield Change(f"dropping {which}", f"{which} is ", _no_selector(name, request, number))
        for request in (each["name"] for each in devices["requests"]):
            fix = f'dropping request "{request}"{owner}' if several else ""
            yield Change(fix, f'claim ns/{name} has the request "{request}"', _no_request(name, request))


def _said(constraint: Json) -> str:
    kind = next(each for each in _SAID if each in constraint)
    on = f" on {', '.join(constraint['requests'])}" if constraint.get("requests") else ""
    return f"{kind} {constraint[kind]}{on}"


def _no_constraint(name: str, said: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        devices = _claim(world, name)["spec"]["devices"]
        devices["constraints"] = [each for each in devices["constraints"] if _said(each) != said]

    return make


def _no_selector(name: str, request: str, number: int) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        dict(_asks(_claim(world, name)))[request]["selectors"][number]["cel"]["expression"] = "true"

    return make


def _no_request(name: str, request: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        claim = _claim(world, name)
        devices = claim["spec"]["devices"]
        devices["requests"] = [each for each in devices["requests"] if each["name"] != request]
        constraints = devices.get("constraints", ())
        devices["constraints"] = [each for each in constraints if each.get("requests", []) != [request]]
        if not devices["requests"]:
            # A claim for nothing is not made.
            world["objects"].remove(claim)
            spec = _all(world, "Pod")[0]["spec"]
            spec["resourceClaims"] = [each for each in spec["resourceClaims"] if each["name"] != name]
            used = spec["containers"][0]["resources"]
            used["claims"] = [each for each in used["claims"] if each["name"] != name]

    return make


def _of_classes(world: Json) -> Iterator[Change]:
    asked = {ask["deviceClassName"] for claim in _pending(world) for _, ask in _asks(claim)}
    for each in _all(world, "DeviceClass"):
        name = each["metadata"]["name"]
        if each["spec"]["selectors"] and name in asked:
            yield Change(f"changing what class {name} selects", f"class {name} selects its devices", _any_device(name))


def _any_device(name: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for each in _all(world, "DeviceClass"):
            if each["metadata"]["name"] == name:
                each["spec"]["selectors"] = []

    return make


def _of_holders(world: Json) -> Iterator[Change]:
    for each in _all(world, "ResourceClaim"):
        if "status" in each:
            name = each["metadata"]["name"]
            yield Change(f"freeing claim ns/{name}", f"claim ns/{name} holds ", _freed(name))


def _freed(name: str) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        claims = [each for each in _all(world, "ResourceClaim") if each["metadata"]["name"] == name]
        world["objects"] = [each for each in world["objects"] if each not in claims]

    return make


def _of_slices(world: Json) -> Iterator[Change]:
    for name in dict.fromkeys(each["spec"]["pool"]["name"] for each in _all(world, "ResourceSlice")):
        specs = _of_pool(world, name)
        wanted = specs[0]["pool"]["resourceSliceCount"]
        if wanted != len(specs):
            yield Change(f"a complete pool {name}", f"pool {name} has ", _complete(name, len(specs)))
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
                device.pop("consumesCounters", None)

    return make


def _of_taints(world: Json) -> Iterator[Change]:
    specs = [each["spec"] for each in _all(world, "ResourceSlice") if each["spec"]["driver"] == DRIVER]
    taints = [taint for spec in specs for device in spec.get("devices", ()) for taint in device.get("taints", ())]
    for key, value, effect in dict.fromkeys((each["key"], each["value"], each["effect"]) for each in taints):
        name = f"{key}{'=' if value else ''}{value}:{effect}"
        change = _tolerated({"key": key, "operator": "Equal", "value": value, "effect": effect})
        yield Change(f"tolerating the taint {name}", f"devices have the taint {name}", change)


def _tolerated(toleration: Json) -> Callable[[Json], None]:
    def make(world: Json) -> None:
        for claim in _pending(world):
            for _, ask in _asks(claim):
                ask.setdefault("tolerations", []).append(toleration)

    return make
