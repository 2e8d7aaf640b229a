"""
Objects become what the API server's scheme makes of them in another version, or are refused where that loses something.

Needs Go.

    python -m fuzz.targets.conversion [--cases 500] [--seed 1]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from random import Random
from typing import Any, Final

from dra_alloc.errors import ManifestError
from dra_alloc.manifest.convert.conversion import reshape
from dra_alloc.manifest.convert.objects import convert
from dra_alloc.manifest.kinds import KINDS, RESOURCE_GROUP, SERVED
from dra_alloc.manifest.make.schema import Leaf, ListType, MapType, ObjectType, SchemaType, schema_of
from dra_alloc.releases import start_of
from fuzz.oracle import Oracle
from fuzz.oracle_build import newest
from fuzz.target import Broken, Json, Target, command

_WORDS: Final = ("", "a", "gpu-0", "x.example.com", "é", "All", "true")
#: What makes a flat request one with devices, and is dropped unread before 1.37.
_LATEST: Final = "derivedAttributes"
_DRAWN: Final[dict[Leaf, tuple[Any, ...]]] = {
    Leaf.STRING: ("", "", *_WORDS),
    Leaf.INT64: (0, 0, 1, 2, -1, 9, (1 << 63) - 1),
    Leaf.BOOL: (True, False),
    Leaf.QUANTITY: ("0", "1", "5Gi", "1500m", "1e3", 7),
    Leaf.TIME: ("2026-01-31T12:00:00Z",),
    Leaf.RAW: ({}, {"a": [1, {"b": None}]}),
    Leaf.DROPPED: (None,),
}


def drawn(random: Random, kind: str, version: str, without: str = "") -> Json:
    """Return a random object of a kind in a version: any of its fields but one, empty and null ones too."""
    model = KINDS[kind].model
    assert model is not None
    fields = reshape(schema_of(model), version).fields
    members = {name: _value(random, fields[name], without) for name in fields if name in ("spec", "status")}
    return {
        "apiVersion": f"{RESOURCE_GROUP}/{version}",
        "kind": kind,
        "metadata": {"name": "a"},
        **{name: member for name, member in members.items() if member is not None},
    }


def _value(random: Random, shape: SchemaType, without: str) -> Any:
    if random.random() < 0.05:
        return None
    if isinstance(shape, Leaf):
        return random.choice(_DRAWN[shape])
    if isinstance(shape, ListType):
        return [_value(random, shape.item, without) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    if isinstance(shape, MapType):
        names = random.sample(_WORDS[1:], random.choice((0, 1, 2)))
        return {name: _value(random, shape.value, without) for name in names}
    assert isinstance(shape, ObjectType)
    share = random.choice((0.2, 0.5, 0.9))
    kept = [name for name in shape.fields if random.random() < share or name in ("devices", "requests")]
    random.shuffle(kept)
    return {name: _value(random, shape.fields[name], without) for name in kept if name != without}


def _cases(seed: int) -> Iterator[Json]:
    """Return objects, with what upstream and we make of them; ours is read by upstream to be written as it writes."""
    random = Random(seed)
    kinds = [kind for kind in SERVED if kind in KINDS]
    with ExitStack() as stack:
        oracles = [stack.enter_context(Oracle(release)) for release in newest("apiserver")]
        for oracle in itertools.cycle(oracles):
            kind = random.choice(kinds)
            served = [version for version, span in SERVED[kind].items() if span.holds(start_of(oracle.release))]
            written, to = random.choice(served), random.choice(served)
            without = "" if oracle.release.startswith("1.37") else _LATEST
            yield _asked(oracle, drawn(random, kind, written, without), written, to)


def _asked(oracle: Oracle, item: Json, written: str, to: str) -> Json:
    case: Json = {"release": oracle.release, "object": item, "to": to, "upstream": _by_upstream(oracle, item, to)}
    try:
        case["ours"] = _by_upstream(oracle, convert(item, to), to)
    except ManifestError as error:
        case["refused"] = str(error)
        back = _by_upstream(oracle, case["upstream"], written)
        case["loses"] = back != _by_upstream(oracle, item, written)
    return case


def _by_upstream(oracle: Oracle, item: Json, to: str) -> Json:
    answer = oracle.ask({"op": "convert", "object": item, "to": to})
    found: Json = answer.get("converted", answer)
    return found


def _check(case: Json) -> str:
    if "refused" in case:
        if not case["loses"]:
            raise Broken(f"refused, though upstream loses nothing: {case['refused']}")
        return "refused"
    if case["ours"] != case["upstream"]:
        raise Broken(f"upstream {case['upstream']}, ours {case['ours']}")
    return "unchanged" if case["object"]["apiVersion"].endswith(f"/{case['to']}") else "converted"


TARGET = Target("conversion", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
