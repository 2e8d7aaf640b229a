"""
Random claims drawn from a cluster: most of what they ask for is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_alloc.testing.drawing.cluster import DrawnCluster, DrawnDevice
from dra_alloc.testing.drawing.devices import ATTRIBUTES, Json
from dra_alloc.testing.drawing.dialect import Dialect, Mix
from dra_alloc.testing.drawing.draw import Chooser
from dra_alloc.testing.drawing.number_texts import WIDE
from dra_alloc.testing.drawing.selectors import selectors

_CLASSES: Final = ("any", "picky", "d1-only")


def classes(cluster: DrawnCluster, draw: Chooser, mix: Mix, dialect: Dialect) -> list[Json]:
    """Return the device classes that random claims name."""
    made: list[Json] = []
    for name in _CLASSES:
        spec: Json = {}
        if name == "d1-only":
            spec["selectors"] = [{"cel": {"expression": 'device.driver == "d1"'}}]
        elif name == "picky" and mix.has(draw, "class-selectors") and cluster.devices:
            spec["selectors"] = selectors(draw.choice(cluster.devices), draw, rich=dialect.rich_selectors)
        if mix.has(draw, "config"):
            spec["config"] = [_config(name, number) for number in range(draw.integer(1, 2))]
        made.append({"metadata": {"name": name}, "spec": spec})
    return made


def claims(cluster: DrawnCluster, draw: Chooser, mix: Mix, dialect: Dialect) -> list[Json]:
    """Return claims to allocate together; devices they are planned on are not planned twice, mostly."""
    planner = _Planner(cluster, draw, mix, dialect)
    count = draw.integer(2, 3) if mix.has(draw, "several-claims") else 1
    return [planner.claim(f"c{number}") for number in range(count)]


def _config(owner: str, number: int, requests: Sequence[str] = ()) -> Json:
    entry: Json = {"opaque": {"driver": "d1", "parameters": {owner: number}}}
    if requests:
        entry["requests"] = list(requests)
    return entry


class _Planner:
    """Draws claims one after the other, remembering which devices are spoken for."""

    def __init__(self, cluster: DrawnCluster, draw: Chooser, mix: Mix, dialect: Dialect) -> None:
        self._cluster = cluster
        self._draw = draw
        self._mix = mix
        self._dialect = dialect
        held = {tuple(each) for each in cluster.allocated}
        reachable = [each for each in cluster.devices if each.here and tuple(each.id) not in held]
        self._free = draw.sample(reachable, len(reachable))
        self._derived = ""

    def claim(self, name: str) -> Json:
        """Return one claim."""
        draw, mix = self._draw, self._mix
        count = draw.integer(2, 3) if mix.has(draw, "several-requests") else 1
        if mix.has(draw, "crowd"):
            count = 3
        planned: list[DrawnDevice] = []
        self._derived = draw.choice(("derived/x", "d1/a")) if mix.has(draw, "derived-attributes") else ""
        self._prefer_alike()
        requests = [self._request(f"r{number}", planned) for number in range(count)]
        if mix.has(draw, "bait"):
            requests = [*self._bait(), *requests]
        devices: Json = {"requests": requests}
        constraints = self._constraints(requests, planned)
        if constraints:
            devices["constraints"] = constraints
        if mix.has(draw, "config"):
            devices["config"] = [
                _config(name, number, self._some_names(requests) if draw.chance(0.6) else ())
                for number in range(draw.integer(1, 2))
            ]
        metadata = {"name": name, "namespace": "ns"} if draw.chance(0.5) else {"name": name}
        return {"metadata": metadata, "spec": {"devices": devices}}

    def _bait(self) -> list[Json]:
        """Return easy requests; put first they take what later ones need, and the search has to come back."""
        ask = {"deviceClassName": "any", "allocationMode": "ExactCount", "tolerations": [{"operator": "Exists"}]}
        return [{"name": "b0", "exactly": {**ask, "count": self._draw.integer(1, 2)}}]

    def _request(self, name: str, planned: list[DrawnDevice]) -> Json:
        draw, mix = self._draw, self._mix
        if not mix.has(draw, "alternatives"):
            exactly = self._ask(planned)
            if mix.has(draw, "admin"):
                exactly["adminAccess"] = draw.chance(0.95)
            made: Json = {"name": name, "exactly": exactly}
        else:
            count = draw.integer(1, 3)
            subs = [{"name": f"s{number}", **self._ask(planned, spare=count > 1)} for number in range(count)]
            made = {"name": name, "firstAvailable": subs}
        if mix.has(draw, "odd-claim"):
            _spoil(made, draw)
        return made

    def _ask(self, planned: list[DrawnDevice], *, spare: bool = False) -> Json:
        draw, mix = self._draw, self._mix
        count = draw.integer(2, 3) if mix.has(draw, "count") else 1
        if mix.has(draw, "many-devices"):
            count = draw.integer(8, 33)
        elif self._free:
            count = min(count, len(self._free))
        targets = self._pick(count)
        if not spare or draw.chance(0.5):
            planned += targets
        ask: Json = {"deviceClassName": draw.choice(_CLASSES if draw.chance(0.5) else ("any",))}
        if mix.has(draw, "all"):
            ask["allocationMode"] = "All"
        else:
            ask |= {"allocationMode": "ExactCount", "count": count}
        if targets and mix.has(draw, "selectors"):
            ask["selectors"] = selectors(_alike(targets), draw, rich=self._dialect.rich_selectors)
        if self._derived and draw.chance(0.9):
            ask["derivedAttributes"] = [{"name": self._derived, "expression": _derivation(targets, draw)}]
        tolerations = self._tolerations(targets)
        if tolerations:
            ask["tolerations"] = tolerations
        if targets and (targets[0].wire.get("capacity") or draw.chance(0.1)) and mix.has(draw, "capacity-requests"):
            ask["capacity"] = _capacity(targets[0], draw, mix)
        return ask

    def _pick(self, count: int) -> list[DrawnDevice]:
        draw = self._draw
        if not self._free or self._mix.has(draw, "misfit"):
            return draw.sample(self._cluster.devices, count)
        picked = self._free[:count]
        shareable = [each for each in picked if each.wire.get("allowMultipleAllocations")]
        self._free = [*self._free[count:], *shareable]
        return picked

    def _prefer_alike(self) -> None:
        """Plan the next claim on devices that agree on something, which is not what the search finds first."""
        if not self._free or not self._mix.has(self._draw, "match"):
            return
        name = self._draw.choice(ATTRIBUTES)
        value = self._free[0].wire.get("attributes", {}).get(name)
        self._free.sort(key=lambda each: each.wire.get("attributes", {}).get(name) != value)

    def _tolerations(self, targets: Sequence[DrawnDevice]) -> list[Json]:
        draw, mix = self._draw, self._mix
        taints = [taint for each in targets for taint in each.wire.get("taints", ())]
        made: list[Json] = [_toleration(taint, draw) for taint in taints if not mix.has(draw, "misfit")]
        if mix.has(draw, "tolerations"):
            made.append(_toleration({"key": "k1", "effect": "NoSchedule"}, draw))
        return made[:3]

    def _constraints(self, requests: Sequence[Json], planned: Sequence[DrawnDevice]) -> list[Json]:
        draw, mix = self._draw, self._mix
        made: list[Json] = []
        for kind in ("match", "distinct"):
            if not mix.has(draw, kind) or not (planned or draw.chance(0.1)):
                continue
            attribute = _attribute_for(kind, planned, draw)
            if self._derived and draw.chance(0.8):
                attribute = self._derived
            constraint: Json = {f"{kind}Attribute": attribute}
            if mix.has(draw, "partial-constraint"):
                constraint["requests"] = self._some_names(requests)
            made.append(constraint)
        if mix.has(draw, "odd-claim") and draw.chance(0.3):
            made.append({"requests": ["r0"]})
        return made

    def _some_names(self, requests: Sequence[Json]) -> list[str]:
        draw = self._draw
        names = [request["name"] for request in requests]
        subs = [f"{each['name']}/{sub['name']}" for each in requests for sub in each.get("firstAvailable", ())]
        picked = draw.sample(names + subs, draw.integer(1, 2))
        return [*picked, "nobody"] if draw.chance(0.05) else picked


def _derivation(targets: Sequence[DrawnDevice], draw: Chooser) -> str:
    """Return an expression for a derived attribute; most of them work on the targets."""
    driver = targets[0].driver if targets else "d1"
    path = f'device.attributes["{driver}"]'
    name = draw.choice(ATTRIBUTES)
    kind = draw.integer(0, 11)
    if kind < 5:
        return f'{path}.?{name}.orValue("none")'
    if kind < 8:
        return f"has({path}.{name}) ? 1 : 2"
    if kind == 8:
        return f"{path}.{name}"
    if kind == 9:
        return f'["u", has({path}.{name}) ? "v" : "w"]'
    return draw.choice(("device.driver", 'semver("1.0.0")', "device.allowMultipleAllocations", "[]", "1.5", "dyn(1.5)"))


def _alike(targets: Sequence[DrawnDevice]) -> DrawnDevice:
    """Return a device that has only what all the devices have, so that what holds for it holds for all."""
    first = targets[0]
    wire = dict(first.wire)
    for key in ("attributes", "capacity"):
        inner = wire.get(key, {})
        others = [each.wire.get(key, {}) for each in targets[1:]]
        wire[key] = {name: value for name, value in inner.items() if all(each.get(name) == value for each in others)}
    return DrawnDevice(first.driver, first.pool, wire, first.here)


def _toleration(taint: Json, draw: Chooser) -> Json:
    made: Json = {"operator": "Exists"} if draw.chance(0.5) else {"operator": "Equal", "value": taint.get("value", "")}
    if made["operator"] == "Equal" and draw.chance(0.2):
        del made["operator"]
    if draw.chance(0.8):
        made["key"] = taint["key"]
    if draw.chance(0.6):
        made["effect"] = taint["effect"]
    if draw.chance(0.1):
        made["tolerationSeconds"] = 5
    return made


def _capacity(target: DrawnDevice, draw: Chooser, mix: Mix) -> Json:
    names = list(target.wire.get("capacity", ()))
    if draw.chance(0.05) or not names:
        names.append("mem")
    amounts: Sequence[str] = ("1", "1", "1", "2", "500m", "1500m", "3", "4")
    if mix.has(draw, "wide-amounts"):
        amounts = WIDE
    if mix.has(draw, "odd-amounts"):
        amounts = ("10E", "9223372036854775807", "9223372036854775", "-1", "-500m", "1300u", "0", "1")
    return {"requests": {name: draw.choice(amounts) for name in draw.sample(names, draw.integer(1, 2))}}


def _attribute_for(kind: str, planned: Sequence[DrawnDevice], draw: Chooser) -> str:
    """Return an attribute in which the planned devices agree, or differ; else one they have; else any."""
    tables = [_qualified(each) for each in planned]
    shared = [name for name in tables[0] if all(name in each for each in tables)] if tables else []
    fitting = []
    for name in shared:
        values = {str(each[name]) for each in tables}
        if len(values) == (1 if kind == "match" else len(tables)):
            fitting.append(name)
    for options, rate in ((fitting, 0.85), (shared, 0.8)):
        if options and draw.chance(rate):
            return draw.choice(options)
    return f"{draw.choice(('d1', 'd2', 'ex.io'))}/{draw.choice(ATTRIBUTES)}"


def _qualified(placed: DrawnDevice) -> Json:
    attributes = placed.wire.get("attributes", {})
    return {key if "/" in key else f"{placed.driver}/{key}": value for key, value in attributes.items()}


def _spoil(request: Json, draw: Chooser) -> None:
    asks = [request["exactly"]] if "exactly" in request else request["firstAvailable"]
    ask = draw.choice(asks)
    kind = draw.integer(0, 5)
    if kind == 0:
        ask["deviceClassName"] = "unknown"
    elif kind == 1:
        ask["deviceClassName"] = ""
    elif kind == 2:
        ask["selectors"] = [{}]
    elif kind == 3:
        ask["allocationMode"] = "Some"
    elif kind == 4:
        ask |= {"allocationMode": "ExactCount", "count": 33}
    else:
        ask.pop("count", None)
