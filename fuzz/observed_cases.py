"""
Small inputs that show, one by one, where upstream's releases differ from each other or from what the API promises.

Each case is named after what it shows. `fuzz.observed` runs them on every release and channel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CASES", "Case"]

Json = dict[str, Any]
ON = {
    "AdminAccess": True,
    "ConsumableCapacity": True,
    "DeviceBindingAndStatus": True,
    "DeviceTaints": True,
    "PartitionableDevices": True,
    "PrioritizedList": True,
}
TAINT = [{"key": "bad", "effect": "NoSchedule"}]


@dataclass(frozen=True, slots=True)
class Case:
    """One input; `promise` is what the API promises, in the notation of the table."""

    name: str
    promise: str
    input: Json
    needs: tuple[str, ...] = ()
    off: tuple[str, ...] = field(default=())


def device(name: str, *, k: int | str | None = None, cap: Json | None = None, multi: bool = False, **rest: Any) -> Json:
    """A device; `k` is how much of the counter `m` it consumes, other keywords are string attributes or fields."""
    fields = {
        key: rest.pop(key) for key in ("taints", "bindingConditions", "nodeName", "consumesCounters") if key in rest
    }
    attributes = {
        key: ({"strings": value} if isinstance(value, list) else {"string": value}) for key, value in rest.items()
    }
    out: Json = {"name": name} | fields
    if attributes:
        out["attributes"] = attributes
    if k is not None:
        out["consumesCounters"] = [{"counterSet": "cs", "counters": {"m": {"value": str(k)}}}]
    if cap is not None:
        out["capacity"] = {
            key: value if isinstance(value, dict) else {"value": str(value)} for key, value in cap.items()
        }
    if multi:
        out["allowMultipleAllocations"] = True
    return out


def slice_(name: str, devices: list[Json] | None = None, **rest: Any) -> Json:
    """A node-local slice of driver `d`, pool `p`, generation 1."""
    spec: Json = {"driver": rest.pop("driver", "d"), "nodeName": rest.pop("node", "node-1")}
    count, generation = rest.pop("count", 1), rest.pop("generation", 1)
    spec["pool"] = {"name": rest.pop("pool", "p"), "generation": generation, "resourceSliceCount": count}
    if spec["nodeName"] is None:
        del spec["nodeName"]
    if devices is not None:
        spec["devices"] = devices
    return {"metadata": {"name": name}, "spec": spec | rest}


def counters(amount: int, *, name: str = "cs", slice_name: str = "a-counters", **rest: Any) -> Json:
    """The slice that publishes the counter `m`; from 1.35 on it has to be one of its own."""
    sets = [{"name": name, "counters": {"m": {"value": str(amount)}}}]
    return slice_(slice_name, None, sharedCounters=sets, count=2, **rest)


def partitioned(amount: int, *devices: Json) -> list[Json]:
    """A pool of two slices: counters, devices."""
    return [counters(amount), slice_("b-devices", list(devices), count=2)]


def want(name: str, count: int | None = 1, *, cel: str | None = None, **rest: Any) -> Json:
    """One request; a count of None asks for all devices."""
    return {"name": name, "exactly": _exact(count, cel, rest)}


def alternative(name: str, count: int | None = 1, *, cel: str | None = None, **rest: Any) -> Json:
    """One subrequest."""
    return {"name": name} | _exact(count, cel, rest)


def first(name: str, *alternatives: Json) -> Json:
    """A request with a list of alternatives."""
    return {"name": name, "firstAvailable": list(alternatives)}


def _exact(count: int | None, cel: str | None, rest: Json) -> Json:
    out: Json = {"deviceClassName": rest.pop("cls", "any")}
    out |= {"allocationMode": "All"} if count is None else {"allocationMode": "ExactCount", "count": count}
    if cel:
        out["selectors"] = [{"cel": {"expression": cel}}]
    if "c" in rest:
        out["capacity"] = {"requests": {"c": str(rest.pop("c"))}}
    return out | rest


def attribute(name: str, value: str) -> str:
    """A selector on one string attribute of driver `d`."""
    return f'device.attributes["d"].?{name}.orValue("") == "{value}"'


def claim(
    *requests: Json, name: str = "c", constraints: list[Json] | None = None, config: list[Json] | None = None
) -> Json:
    """One claim."""
    devices: Json = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = constraints
    if config:
        devices["config"] = config
    return {"metadata": {"name": name}, "spec": {"devices": devices}}


def problem(slices: list[Json], *claims: Json, **rest: Any) -> Json:
    """One call of the allocator on node-1."""
    return {"slices": slices, "claims": list(claims), "classes": [{"metadata": {"name": "any"}, "spec": {}}]} | rest


MATCH = [{"matchAttribute": "d/at"}]
DISTINCT = [{"distinctAttribute": "d/at"}]
X, Y = attribute("t", "X"), attribute("t", "Y")
A, B, C2 = device("a", k=8), device("b", k=8), {"c": 2}


def _leaks() -> list[Case]:
    tainted = device("a", k=8, taints=TAINT)
    x, y, z = device("x", t="X", at="u"), device("y", t="Y", at="v", k=8), device("z", t="Y", at="u", k=8)
    big = device("M", multi=True, cap=C2, k=8, t="M")
    lists = [device("d1", at=["u", "v"]), device("d2", at=["u"]), device("d3", at=["v"]), device("d4", at=["v"])]
    aba = [device("d1", at="A"), device("d2", at="B"), device("d3", at="A")]
    back = [device("d1", at="A"), device("d2", at="B", t="X"), device("d3", at="A")]
    short = [device("d1", multi=True, cap=C2, at="u", t="X"), device("d2", at="v", t="Y")]
    all_or_one = first("r1", alternative("one", None, cel=X, c=2), alternative("two", 1, cel=Y))
    full = [device("d1", multi=True, cap=C2, t="X"), device("d2", multi=True, cap=C2, t="Y")]
    return [
        Case("1 counters leak: tainted first", "r=b", problem(partitioned(8, tainted, B), claim(want("r")))),
        Case("1 counters leak: tainted second", "r=b", problem(partitioned(8, B, tainted), claim(want("r")))),
        Case(
            "2 counters leak: constraint",
            "r0=x r1=z",
            problem(partitioned(8, x, y, z), claim(want("r0", cel=X), want("r1", cel=Y), constraints=MATCH)),
        ),
        Case(
            "3 multi device keeps counters after undo",
            "r/two=y",
            problem(
                partitioned(8, big, device("y", k=8, t="Y")),
                claim(first("r", alternative("one", 2), alternative("two", 1, cel=Y))),
            ),
            ("ConsumableCapacity",),
        ),
        Case(
            "4 list intersection not restored",
            "r=d1,d3,d4",
            problem([slice_("s", lists)], claim(want("r", 3), constraints=MATCH)),
            ("ListTypeAttributes",),
        ),
        Case(
            "5 distinct forgets inside a request",
            "nil",
            problem([slice_("s", aba)], claim(want("r", 3), constraints=DISTINCT)),
        ),
        Case(
            "6 distinct forgets on backtrack",
            "nil",
            problem([slice_("s", back)], claim(want("r0", 2), want("r1", cel=X), constraints=DISTINCT)),
        ),
        Case(
            "7 All refused by capacity leaves constraint",
            "r0=d1 r1/two=d2",
            problem(
                [slice_("s", short)],
                claim(want("r0", cel=X, c=1), all_or_one, constraints=[{"requests": ["r1"], "matchAttribute": "d/at"}]),
            ),
            ("ConsumableCapacity",),
        ),
        Case(
            "7b All with exhausted matching device",
            "nil",
            problem(
                [slice_("s", full)],
                claim(want("r", None, c=2)),
                aggregated=[{"id": ["d", "p", "d1"], "cap": {"c": "2"}}],
            ),
            ("ConsumableCapacity",),
        ),
    ]


def _accounting() -> list[Case]:
    shared = [["d", "p", "a", "s1"]]
    used = {"allocatedShared": shared}
    capacity_used = [{"id": ["d", "p", "a"], "cap": {"c": "1"}}]
    multi_k = device("a", multi=True, k=8)
    db_k = [{"counterSet": "csB", "counters": {"m": {"value": "9"}}}]
    same = [counters(8, driver="da", slice_name="a1"), slice_("a2", [A], driver="da", count=2)]
    same += [counters(8, driver="db", slice_name="b1"), slice_("b2", [B], driver="db", count=2)]
    other = [*same[:2], counters(9, name="csB", driver="db", slice_name="b1")]
    other.append(
        slice_("b2", [device("b", consumesCounters=db_k), device("b2", consumesCounters=db_k)], driver="db", count=2)
    )
    two = claim(want("r0", cel='device.driver == "da"'), want("r1", cel='device.driver == "db"'))
    three = claim(want("r0", cel='device.driver == "da"'), want("r1", 2, cel='device.driver == "db"'))
    return [
        Case("8 pool names collide, same set", "r0=a r1=b", problem(same, two)),
        Case("8 pool names collide, other set", "nil", problem(other, three)),
        Case(
            "9 shared ID without capacity charged twice",
            "r=a",
            problem(partitioned(8, multi_k), claim(want("r")), **used),
            ("ConsumableCapacity",),
        ),
        Case(
            "9 two requests in one call share it",
            "r0=a r1=a",
            problem(partitioned(8, multi_k), claim(want("r0"), want("r1"))),
            ("ConsumableCapacity",),
        ),
        Case(
            "10 dedicated device with shared ID",
            "nil",
            problem([slice_("s", [device("a")])], claim(want("r")), **used),
            ("ConsumableCapacity",),
        ),
        Case(
            "10 dedicated device with shared ID and capacity",
            "nil",
            problem(
                [slice_("s", [device("a", cap={"c": 4})])], claim(want("r", c=1)), aggregated=capacity_used, **used
            ),
            ("ConsumableCapacity",),
        ),
        Case(
            "11 vanished allocated device frees counters",
            "nil",
            problem(partitioned(8, B), claim(want("r")), allocated=[["d", "p", "a"]]),
        ),
        Case(
            "11b published allocated device holds counters",
            "nil",
            problem(partitioned(8, A, B), claim(want("r")), allocated=[["d", "p", "a"]]),
        ),
        Case(
            "11c allocated multi device holds counters",
            "nil",
            problem(
                partitioned(8, device("a", multi=True, cap={"c": 2}, k=8), B),
                claim(want("r", cel="!device.allowMultipleAllocations")),
                aggregated=capacity_used,
                **used,
            ),
            ("ConsumableCapacity",),
        ),
    ]


def _order() -> list[Case]:
    one = [slice_("s", [device("a")])]
    admin, plain = want("r", adminAccess=True), want("r")
    three = [device("d1", at="u", t="X"), device("d2", at="v", t="X"), device("d3", at="v", t="Y")]
    stale = slice_("q", [device("q1")], pool="other", count=2)
    fallback = first("r", alternative("one", None, cel=X), alternative("two", 1, cel=Y))
    pair = [device("d1", t="X"), device("d2", t="Y")]
    many = [device(f"d{i:02}", t="X") for i in range(33)]
    return [
        Case(
            "12 admin first, then normal",
            "c0.r=a c1.r=a",
            problem(one, claim(admin, name="c0"), claim(plain, name="c1")),
        ),
        Case(
            "12 normal first, then admin",
            "c0.r=a c1.r=a",
            problem(one, claim(plain, name="c0"), claim(admin, name="c1")),
        ),
        Case(
            "13 All with constraint",
            "r0=d2 r1=d3",
            problem([slice_("s", three)], claim(want("r0", cel=X), want("r1", None, cel=Y), constraints=MATCH)),
        ),
        Case(
            "14 All as alternative, incomplete pool", "r/two=d2", problem([slice_("s", pair), stale], claim(fallback))
        ),
        Case(
            "14b All, incomplete pool",
            "error of this node",
            problem([slice_("s", pair), stale], claim(want("r", None))),
        ),
        Case(
            "14c All, invalid pool",
            "error of this node",
            problem([slice_("s", [device("d1"), device("d1")])], claim(want("r", None))),
        ),
        Case("15 All over 33 devices", "error of this claim", problem([slice_("s", many)], claim(want("r", None)))),
        Case(
            "15 All over 33 devices as alternative",
            "r/two=e",
            problem([slice_("s", [*many, device("e", t="Y")])], claim(fallback)),
        ),
        Case(
            "16 All includes a device in use",
            "nil",
            problem([slice_("s", pair)], claim(want("r", None)), allocated=[["d", "p", "d1"]]),
        ),
        Case("17 admin needs counters", "r=a", problem(partitioned(8, A), claim(admin), allocated=[["d", "p", "a"]])),
        Case(
            "17 admin on consumed multi device",
            "r=a",
            problem(
                [slice_("s", [device("a", multi=True, cap=C2)])],
                claim(admin),
                allocatedShared=[["d", "p", "a", "s1"]],
                aggregated=[{"id": ["d", "p", "a"], "cap": {"c": "2"}}],
            ),
            ("ConsumableCapacity",),
        ),
        Case(
            "18 count 2 on one multi device",
            "?",
            problem([slice_("s", [device("a", multi=True, cap={"c": 4})])], claim(want("r", 2, c=1))),
            ("ConsumableCapacity",),
        ),
        Case(
            "18 two requests on one multi device",
            "r0=a r1=a",
            problem([slice_("s", [device("a", multi=True, cap={"c": 4})])], claim(want("r0", c=1), want("r1", c=1))),
            ("ConsumableCapacity",),
        ),
    ]


def _pools() -> list[Case]:
    old = [slice_("s1", [device("a")], count=2), slice_("s2", [device("b")], count=2)]
    newer = slice_("n2", [device("x")], node="node-2", generation=2)
    both = slice_("s", [device("a")], sharedCounters=[{"name": "cs", "counters": {"m": {"value": "8"}}}])
    per_device = slice_("s", [device("a")], perDeviceNodeSelection=False)
    terms = [{"matchExpressions": [{"key": "k", "operator": "Bogus"}]}]
    broken = slice_("z", [device("z")], driver="other", node=None, nodeSelector={"nodeSelectorTerms": terms})
    s1 = {"requests": ["r0", "r1/s0"], "matchAttribute": "d/at"}
    uv = [device("d1", at="u", t="X"), device("d2", at="v", t="Y")]
    binding = [slice_("a", [device("a")], pool="p1"), slice_("b", [device("b")], pool="p2")]
    binding[0]["spec"]["devices"][0] |= {"bindingConditions": ["x"], "bindingFailureConditions": ["y"]}
    inside = [
        slice_("s2", [device("plain")], count=2),
        slice_(
            "s1",
            [
                device(
                    "bound",
                    bindingConditions=["x"],
                )
            ],
            count=2,
        ),
    ]
    remote = [
        slice_("r1", [device("z")], pool="q", node="node-2", count=3),
        counters(8, pool="q", node="node-2", slice_name="r2"),
    ]
    return [
        Case("19 complete old generation wins", "?", problem([*old, newer], claim(want("r")))),
        Case("19b newer generation elsewhere, short group", "nil", problem([old[0], newer], claim(want("r")))),
        Case("20 slice with counters and devices", "?", problem([both], claim(want("r")))),
        Case(
            "21 perDeviceNodeSelection false, gate off",
            "r=a",
            problem([per_device], claim(want("r"))),
            off=("PartitionableDevices",),
        ),
        Case(
            "22 bad node selector of a foreign pool",
            "r=a",
            problem([slice_("s", [device("a")]), broken], claim(want("r"))),
        ),
        Case(
            "23 constraint on an unselected alternative",
            "r0=d1 r1/s1=d2",
            problem(
                [slice_("s", uv)],
                claim(
                    want("r0", cel=X),
                    first("r1", alternative("s0", cel=attribute("t", "Z")), alternative("s1", cel=Y)),
                    constraints=[s1],
                ),
            ),
        ),
        Case("24 binding conditions demote the pool", "r=b", problem(binding, claim(want("r")))),
        Case("24b inside the pool the name decides", "r=bound", problem(inside, claim(want("r")))),
        Case(
            "6.1 All beside an incomplete pool of another node",
            "r=a",
            problem([slice_("s", [device("a")]), *remote], claim(want("r", None))),
        ),
        Case(
            "6.2 incomplete pool, ExactCount", "nil", problem([slice_("s", [device("a")], count=2)], claim(want("r")))
        ),
        Case(
            "6.2 invalid pool, ExactCount",
            "r=b",
            problem([slice_("s", [device("a"), device("a")]), slice_("t", [device("b")], pool="q")], claim(want("r"))),
        ),
        Case(
            "6.2 slices of the pool on another node",
            "r=a",
            problem(
                [slice_("s", [device("a")], count=2), slice_("t", [device("b")], count=2, node="node-2")],
                claim(want("r")),
            ),
        ),
    ]


def _history() -> list[Case]:
    taint = device("a", taints=[{"key": "bad", "effect": "None"}])
    unknown = device("a", taints=[{"key": "bad", "effect": "Odd"}])
    d1, d2 = device("d1", t="X"), device("d2", t="Y")
    alts = first("r", alternative("one", cel=attribute("t", "Z")), alternative("two", None))
    both = first("r", alternative("one", None, cel=attribute("t", "Z")), alternative("two", None, cel=Y))
    config = [{"requests": ["r0", "r1"], "opaque": {"driver": "d", "parameters": {"a": 1}}}]
    ordered = [slice_("z", [device("z")], pool="pa"), slice_("a", [device("a")], pool="pb")]
    tolerated = want("r", tolerations=[{"key": "bad", "operator": "Exists"}])
    range_ = {"value": "8", "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "2"}}}
    no_min = {"value": "8", "requestPolicy": {"default": "1", "validRange": {"step": "2"}}}
    zero = {"value": "8", "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "0"}}}
    half = {"value": "8", "requestPolicy": {"default": "500m", "validRange": {"min": "500m", "step": "500m"}}}
    multi = [device("a", multi=True, cap={"c": 4}), device("b", multi=True, cap={"c": 4})]
    return [
        Case("6.2 taint effect None", "r=a", problem([slice_("s", [taint])], claim(want("r")))),
        Case("6.2 taint effect unknown", "r=a", problem([slice_("s", [unknown])], claim(want("r")))),
        Case(
            "6.2 tolerations in the result",
            "r=a+tol",
            problem([slice_("s", [device("a", taints=TAINT)])], claim(tolerated)),
        ),
        Case("6.2 All in the second alternative", "r/two=d1,d2", problem([slice_("s", [d1, d2])], claim(alts))),
        Case("6.2 All in both alternatives", "r/two=d2", problem([slice_("s", [d1, d2])], claim(both))),
        Case("6.2 All with counters", "r=a", problem(partitioned(8, A), claim(want("r", None)))),
        Case(
            "6.2 config for two requests",
            "r0=d1 r1=d2 cfg[all]",
            problem([slice_("s", [d1, d2])], claim(want("r0"), want("r1"), config=config)),
        ),
        Case(
            "6.2 config for two of three requests",
            "r0=d1 r1=d2 r2=d3 cfg[r0,r1]",
            problem([slice_("s", [d1, d2, device("d3")])], claim(want("r0"), want("r1"), want("r2"), config=config)),
        ),
        Case("6.2 pool order by name", "r=z", problem(ordered[::-1], claim(want("r")))),
        Case(
            "6.2 one request, multi device twice",
            "?",
            problem([slice_("s", [multi[0]])], claim(want("r", 2, c=1))),
            ("ConsumableCapacity",),
        ),
        Case(
            "6.2 distinct by value",
            "r0=d1 r1=d3",
            problem(
                [slice_("s", [device("d1", at="A"), device("d2", at="A"), device("d3", at="B")])],
                claim(want("r0"), want("r1"), constraints=DISTINCT),
            ),
        ),
        Case(
            "6.2 capacity check of the second request",
            "r0=a r1=b",
            problem([slice_("s", multi)], claim(want("r0", c=3), want("r1", c=3))),
            ("ConsumableCapacity",),
        ),
        Case("8.3 request without a body", "error of this claim", problem([slice_("s", [d1])], claim({"name": "r"}))),
        Case(
            "8.3 validRange.step without min",
            "?",
            problem([slice_("s", [device("a", multi=True, cap={"c": no_min})])], claim(want("r", c=2))),
            ("ConsumableCapacity",),
        ),
        Case(
            "8.3 validRange.step 0",
            "?",
            problem([slice_("s", [device("a", multi=True, cap={"c": zero})])], claim(want("r", c=2))),
            ("ConsumableCapacity",),
        ),
        Case(
            "4.8 range rounds up",
            "r=a c=3",
            problem([slice_("s", [device("a", multi=True, cap={"c": range_})])], claim(want("r", c=2))),
            ("ConsumableCapacity",),
        ),
        Case(
            "4.8 fractional range",
            "r=a c=1500m",
            problem([slice_("s", [device("a", multi=True, cap={"c": half})])], claim(want("r", c="1200m"))),
            ("ConsumableCapacity",),
        ),
        Case(
            "8.4 count 6 over 5 devices, steps",
            "nil",
            problem([slice_("s", [device(f"d{i}") for i in range(5)])], claim(want("r", 6))),
        ),
        Case(
            "8.4 6 requests over 5 devices, steps",
            "nil",
            problem([slice_("s", [device(f"d{i}") for i in range(5)])], claim(*[want(f"r{i}") for i in range(6)])),
        ),
        Case(
            "8.4 6 claims over 5 devices, steps",
            "nil",
            problem(
                [slice_("s", [device(f"d{i}") for i in range(5)])], *[claim(want("r"), name=f"c{i}") for i in range(6)]
            ),
        ),
    ]


CASES: tuple[Case, ...] = (*_leaks(), *_accounting(), *_order(), *_pools(), *_history())
