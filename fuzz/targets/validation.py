"""
Objects of resource.k8s.io are refused as the API server of each release refuses them: type, field and detail; needs Go.

What it takes is stored as it stores it, with the same warnings.

    python -m fuzz.targets.validation [--cases 500] [--seed 1] [--kind ResourceSlice]

Asked are objects that a server takes, with a few changes, in each version that is served, with gates one by one, in
pairs, and all on; some take the place of such an object. Of what cannot be decoded only that is compared, of a spec
that cannot change the same, of selectors with syntax errors the place of the first.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from random import Random
from typing import Any, Final

from dra_alloc.cli.harness.validate import answer_validate
from dra_alloc.gates import GATES, Maturity, gates_of
from dra_alloc.manifest import load_readable
from dra_alloc.manifest.convert.conversion import from_v1, reshape
from dra_alloc.manifest.kinds import KINDS, RESOURCE_GROUP, SERVED
from dra_alloc.manifest.make.field_releases import known_in
from dra_alloc.manifest.make.schema import ObjectType, schema_of
from dra_alloc.releases import parse_release, start_of
from fuzz.admission.bases import BASES, STATUSES, TOGETHER
from fuzz.admission.changes import changed
from fuzz.oracle import Oracle
from fuzz.oracle_build import newest
from fuzz.target import Broken, Json, Target, command

_TIMES: Final = (0, 1, 1, 1, 1, 2, 2, 3)
_UPDATES: Final = 0.3
_ALL_GATES: Final = 0.1
_STATUS_SHARE: Final = 0.4
_DELETED_SHARE: Final = 0.1
_PLAIN_SHARE: Final = 0.6
_LEFT_OPEN: Final = frozenset({"timeAdded", "allocationMultiplier"})
_IMMUTABLE: Final = {"type": "FieldValueInvalid", "field": "spec", "detail": "field is immutable"}
_SYNTAX: Final = "Syntax error"


def _gates(random: Random, release: str) -> dict[str, bool]:
    known, free = gates_of(release), _free(release)
    if random.random() < _ALL_GATES:
        return dict.fromkeys(free, True)
    chosen = random.sample(free, random.choice((0, 0, 1, 1, 2)))
    return {name: random.random() < 0.7 if not known[name] else random.random() < 0.2 for name in chosen}


def _free(release: str) -> list[str]:
    return sorted(name for name in gates_of(release) if not _locked(name, release) and name.startswith("DRA"))


def _locked(name: str, release: str) -> bool:
    asked = parse_release(release)
    stages = [stage for since, stage in GATES[name].items() if asked >= start_of(since)]
    return stages[-1] is Maturity.LOCKED


def drawn(random: Random, release: str, kind: str) -> Json:
    """Return a request: an object of a version that a release serves, and often the one that it takes the place of."""
    versions = [version for version, span in SERVED[kind].items() if span.holds(parse_release(release))]
    version, model = random.choice(versions), KINDS[kind].model
    assert model is not None
    says = {"apiVersion": f"{RESOURCE_GROUP}/{version}", "kind": kind}
    base = {**from_v1(random.choice(_bases(kind, release)), kind, version), **says}
    shape = reshape(schema_of(model), version)
    case: Json = {"release": release, "gates": _gates(random, release)}
    if random.random() >= _UPDATES:
        item = changed(random, base, shape, random.choice(_TIMES))
        return {**case, "object": {**_without_empty(item), **says}}
    base["metadata"] = {**base["metadata"], "resourceVersion": "1", "uid": "u"}
    if random.random() < _DELETED_SHARE:
        base["metadata"] |= {"deletionTimestamp": "2026-01-31T12:00:00Z", "finalizers": ["d.io/f"]}
    known = known_in(schema_of(model), parse_release(release)).fields
    if "status" in known and random.random() < _STATUS_SHARE:
        base["status"] = random.choice(({}, STATUSES[kind]))
        case["subresource"] = "status"
        part = ObjectType("object", {name: shape.fields[name] for name in ("metadata", "status")})
        item = {"metadata": base["metadata"], "status": STATUSES[kind]}
        item = {**base, **changed(random, item, part, random.choice(_TIMES))}
    else:
        base = _taken(random, base, shape)
        item = changed(random, base, shape, random.choice(_TIMES))
    if isinstance(item.get("metadata"), dict):
        # A name cannot change here, and was fine when it was taken.
        item["metadata"] |= {name: base["metadata"].get(name) for name in ("name", "generateName", "resourceVersion")}
    return {**case, "old": base, "object": {**_without_empty(item), **says}}


def _bases(kind: str, release: str) -> tuple[Json, ...]:
    early = kind == "ResourceSlice" and release.startswith("1.34.")
    return (*BASES[kind], *TOGETHER) if early else BASES[kind]


def _taken(random: Random, base: Json, shape: ObjectType) -> Json:
    """Return an object that is there: as it is, or one change away as a release took it, whose rules may be others."""
    if random.random() < _PLAIN_SHARE:
        return base
    other, release = changed(random, base, shape, 1), random.choice(newest("apiserver"))
    found = {**_without_empty(other), "apiVersion": base["apiVersion"], "kind": base["kind"]}
    if isinstance(found.get("metadata"), dict):
        found["metadata"] |= {name: base["metadata"].get(name) for name in ("name", "generateName", "resourceVersion")}
        found["metadata"].pop("generation", None)
    request = {"object": found, "release": release, "gates": dict.fromkeys(_free(release), True)}
    return base if answer_validate(request)["errors"] else found


def _without_empty(item: Json) -> Json:
    """
    Leave out lists of nothing where upstream takes them for set, and they are read as unset here.

    They are those in the metadata of a template, and devices or counters of a slice that has the others.
    """
    outer = item.get("spec")
    if isinstance(outer, dict) and "pool" in outer:
        left = {name: each for name, each in outer.items() if name not in ("devices", "sharedCounters") or each != []}
        return {**item, "spec": left}
    inner = outer.get("metadata") if isinstance(outer, dict) else None
    if not isinstance(outer, dict) or not isinstance(inner, dict):
        return item
    kept = {name: value for name, value in inner.items() if value not in ([], {})}
    return {**item, "spec": {**outer, "metadata": kept}}


def _cases(seed: int, kinds: Sequence[str] = tuple(BASES)) -> Iterator[Json]:
    """Yield requests of the kinds and releases in turn with what upstream answers, several of them on the way."""
    with ExitStack() as stack:
        oracles = [stack.enter_context(Oracle(release)) for release in newest("apiserver")]
        asked = [_asked(oracle, seed, number, (kinds, len(oracles))) for number, oracle in enumerate(oracles)]
        for each in itertools.cycle(asked):
            yield next(each)


def _asked(oracle: Oracle, seed: int, first: int, among: tuple[Sequence[str], int]) -> Iterator[Json]:
    kinds, step = among
    sent: deque[Json] = deque()

    def requests() -> Iterator[Json]:
        for number in itertools.count(first, step):
            request = drawn(Random(f"{seed}/{number}"), oracle.release, kinds[number // step % len(kinds)])
            sent.append(request)
            yield {"op": "validate", **request}

    for answer in oracle.batch(requests()):
        request = sent.popleft()
        # A gate may want another one, and what is there has to be readable.
        if not answer.get("bad", "").startswith(("gates:", "old:")):
            yield {"request": request, "upstream": answer}


def check(case: Json) -> str:
    """Hold what we say of a request against what upstream does. Raises: Broken."""
    request, upstream = case["request"], case["upstream"]
    if upstream.get("where", "").endswith(".validateRequestPolicyRangeStep"):
        told = answer_validate(request)["errors"]
        return "panics" if any(each["detail"] == "must be greater than zero" for each in told) else "panics alone"
    if "errors" not in upstream:
        if upstream.keys() & {"crash", "timeout"}:
            return "no answer"  # of more than some megabytes, or selectors that take long
        raise Broken(f"upstream {upstream}")
    answer = answer_validate(request)
    theirs, ours = upstream["errors"], answer["errors"]
    undecoded = [any(each["type"] == "BadRequest" for each in found) for found in (theirs, ours)]
    if theirs and "defaulted" not in answer and not undecoded[1]:
        return "crowded"  # a list is so long that nothing is made of the object
    if any(undecoded):
        if not all(undecoded):
            raise Broken(f"upstream {theirs}, ours {ours}")
        return "undecodable"
    if _IMMUTABLE in theirs and _IMMUTABLE in ours:
        return "immutable"
    left, right = (_counted(found, request) for found in (theirs, ours))
    if left != right:
        only, more = sorted((left - right).elements()), sorted((right - left).elements())
        raise Broken(f"only upstream {only}, only ours {more}")
    if theirs:
        return "refused"
    warned = [each.get("warnings", []) for each in (upstream, answer)]
    if warned[0] != warned[1]:
        raise Broken(f"upstream warns {warned[0]}, we {warned[1]}")
    there = _read(upstream["stored"])
    lost = _difference(answer["stored"], there)
    if lost:
        raise Broken(f"stored otherwise: {lost}, upstream {there}, ours {answer['stored']}")
    return "accepted"


def _read(stored: Json) -> Json:
    """Return what upstream stored, which is in the version that was sent, as we read it."""
    (documents, problems) = load_readable(["-"], stdin=io.BytesIO(json.dumps(stored).encode()))
    if problems:
        raise Broken(f"what upstream stores cannot be read: {problems[0]}")
    members = ("claims", "templates", "classes", "slices", "taint_rules")
    (item,) = (each for member in members for each in getattr(documents, member))
    found: Json = item.to_wire()
    return found


def _difference(ours: Json, theirs: Json) -> str:
    """Return the place of what differs in spec and status but for what we leave open (DEF-4, DEF-5) and a 0."""
    return next((path for name in ("spec", "status") if (path := _differs(ours.get(name), theirs.get(name), name))), "")


def _differs(one: Any, other: Any, path: str) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted({*one, *other} - (_LEFT_OPEN - {*one}))
        found = ((one.get(name), other.get(name), f"{path}.{name}") for name in names)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = ((left, right, f"{path}[{at}]") for at, (left, right) in enumerate(zip(one, other, strict=True)))
    else:
        return "" if one == other or (not one and not other and path.lower().endswith("generation")) else path
    return next((place for each in found if (place := _differs(*each))), "")


def _counted(errors: list[Json], request: Json) -> Counter[tuple[str, str, str]]:
    """Count faults; an update tells those of metadata twice or four times up to 1.36, and in 1.34 all of a class."""
    found, update = Counter(map(_fault, errors)), "old" in request
    classes = update and request["object"]["kind"] == "DeviceClass" and request["release"].startswith("1.34.")
    once = "" if classes else "metadata."
    return Counter({each: 1 if update and each[1].startswith(once) else count for each, count in found.items()})


def _fault(error: Json) -> tuple[str, str, str]:
    place, syntax, _ = error["detail"].partition(_SYNTAX)
    return error["type"], error["field"], place if syntax else error["detail"]


TARGET = Target("validation", _cases, check, shrinks=False, kinds=tuple(BASES))


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
