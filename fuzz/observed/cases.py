"""
Small inputs that show, one by one, where upstream's releases differ from each other or from what the API promises.

Each case is named after what it shows. `fuzz.observed.watch` runs them on every release and channel. What older
releases did and what the newest brought is in `fuzz.observed.history`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.observed.build import (
    Case,
    alternative,
    attribute,
    claim,
    counters,
    device,
    first,
    partitioned,
    problem,
    slice_,
    want,
)
from fuzz.observed.history import history, new_in_1_37, numbers

if TYPE_CHECKING:
    pass

TAINT = [{"key": "bad", "effect": "NoSchedule"}]
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


CASES: tuple[Case, ...] = (
    *_leaks(),
    *_accounting(),
    *_order(),
    *_pools(),
    *history(),
    *numbers(),
    *new_in_1_37(),
)
