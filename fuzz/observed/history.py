"""What older releases did otherwise, rounding of capacities, what 1.37 brought: cases for `fuzz.observed.watch`."""

from __future__ import annotations

from fuzz.observed.build import (
    Case,
    Json,
    alternative,
    attribute,
    claim,
    device,
    first,
    partitioned,
    problem,
    slice_,
    want,
)

TAINT = [{"key": "bad", "effect": "NoSchedule"}]
DISTINCT = [{"distinctAttribute": "d/at"}]
X, Y = attribute("t", "X"), attribute("t", "Y")
A, B, C2 = device("a", k=8), device("b", k=8), {"c": 2}


def history() -> list[Case]:
    """Behaviour that changed from one release to the next."""
    taint = device("a", taints=[{"key": "bad", "effect": "None"}])
    unknown = device("a", taints=[{"key": "bad", "effect": "Odd"}])
    d1, d2 = device("d1", t="X"), device("d2", t="Y")
    alts = first("r", alternative("one", cel=attribute("t", "Z")), alternative("two", None))
    both = first("r", alternative("one", None, cel=attribute("t", "Z")), alternative("two", None, cel=Y))
    config = [{"requests": ["r0", "r1"], "opaque": {"driver": "d", "parameters": {"a": 1}}}]
    ordered = [slice_("z", [device("z")], pool="pa"), slice_("a", [device("a")], pool="pb")]
    tolerated = want("r", tolerations=[{"key": "bad", "operator": "Exists"}])
    no_min = {"value": "8", "requestPolicy": {"default": "1", "validRange": {"step": "2"}}}
    zero = {"value": "8", "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "0"}}}
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


def numbers() -> list[Case]:
    """Amounts of consumable capacity: rounding, formats, numbers that do not fit."""

    def ranged(low: str, step: str, *, high: str | None = None, default: str = "1", value: str = "8") -> Json:
        valid = {"min": low, "step": step} | ({"max": high} if high else {})
        return {"value": value, "requestPolicy": {"default": default, "validRange": valid}}

    def ask(capacity: Json, amount: str) -> Json:
        return problem([slice_("s", [device("a", multi=True, cap={"c": capacity})])], claim(want("r", c=amount)))

    half = ranged("500m", "500m", default="500m")
    whole, huge = ranged("1", "2"), ranged("1", "4", value="20E")
    capacity, fraction = ("ConsumableCapacity",), ("ConsumableCapacity", "FractionalCapacityRange")
    negative = {"value": "4", "requestPolicy": {"default": "-1", "validValues": ["-1"]}}
    none = problem([slice_("s", [device("a", multi=True, cap={"c": negative})])], claim(want("r")))
    return [
        Case("4.8 range rounds up", "r=a c=3", ask(whole, "2"), capacity),
        Case("4.8 range rounds up, milli values", "r=a c=3", ask(whole, "2"), fraction),
        Case("4.8 fractional range", "r=a c=1500m", ask(half, "1200m"), capacity),
        Case("4.8 fractional range, milli values", "r=a c=1500m", ask(half, "1200m"), fraction),
        Case(
            "4.8 format of the rounded amount",
            "?",
            ask(ranged("1Ki", "1Ki", value="64Ki", default="1Ki"), "1500"),
            capacity,
        ),
        Case(
            "4.8 format of the rounded amount, decimal step",
            "?",
            ask(ranged("1k", "1k", value="64k", default="1k"), "1500"),
            capacity,
        ),
        Case("4.8 request beyond int64", "error of this claim", ask(huge, "10E"), capacity),
        Case("4.8 request beyond int64 without policy", "r=a c=10E", ask({"value": "20E"}, "10E"), capacity),
        Case("4.8 rounding beyond int64", "error of this claim", ask(huge, "9223372036854775807"), capacity),
        Case("4.8 negative default", "error of this claim", none, capacity),
    ]


def new_in_1_37() -> list[Case]:
    """Features that 1.37 added, with their switch on and off."""

    def grouped(name: str, *groups: str) -> Json:
        entry = {"counterSet": "cs", "counters": {"m": {"value": "1"}}, "compatibilityGroups": list(groups)}
        return device(name, consumesCounters=[entry])

    groups = partitioned(8, grouped("a", "g1"), grouped("b", "g2"), grouped("c", "g1", "g2"))
    skip = slice_("s", [device("a")], skipNodeOperations=["All"])
    able = {"metadata": {"name": "node-1"}, "status": {"declaredFeatures": ["DRAOptionalNodeOperations"]}}
    derived = [{"name": "d/x", "expression": 'device.attributes["d"].t'}]
    three = [device("d1", t="X"), device("d2", t="Y"), device("d3", t="X")]
    same = claim(want("r", 2, derivedAttributes=derived), constraints=[{"matchAttribute": "d/x"}])
    return [
        Case("1.37 compatibility groups", "r=a,c", problem(groups, claim(want("r", 2))), ("CompatibilityGroups",)),
        Case("1.37 compatibility groups, gate off", "nil", problem(groups, claim(want("r", 2)))),
        Case("1.37 skipNodeOperations", "nil", problem([skip], claim(want("r"))), ("OptionalNodeOperations",)),
        Case(
            "1.37 skipNodeOperations, node can",
            "r=a",
            problem([skip], claim(want("r")), node=able),
            ("OptionalNodeOperations",),
        ),
        Case("1.37 skipNodeOperations, gate off", "nil", problem([skip], claim(want("r")), node=able)),
        Case("1.37 derived attribute", "r=d1,d3", problem([slice_("s", three)], same), ("DerivedAttributes",)),
        Case("1.37 derived attribute, gate off", "error of this claim", problem([slice_("s", three)], same)),
    ]
