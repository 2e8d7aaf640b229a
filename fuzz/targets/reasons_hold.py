"""
Reasons replayed: facts suffice and are needed, fixes are enough and none is missing, what is "not enough" is not.

    python -m fuzz.targets.reasons_hold --cases 10000 [--seed 1] [--record FILE]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from dra_alloc.api import AllocationResult, DeviceClass, Node, ResourceClaim, ResourceSlice
from dra_alloc.explain.facts import Fact, facts_of
from dra_alloc.explain.reasons import Reasons, reasons
from dra_alloc.explain.world import World
from dra_alloc.profiles import Feature, profile
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.devices import Json
from dra_alloc.testing.drawing.dialect import Dialect
from fuzz import progress
from fuzz.recording import Record, add_option, append

#: Cases of one record.
PART: Final = 500
UNDECIDED: Final = "undecided"


def refused_worlds(seed: int, dialect: Dialect, semantics: str) -> Iterator[World]:
    """Return random worlds whose claims do not fit, without end."""
    for request in random_requests(seed, dialect):
        world = world_of({**request, "semantics": semantics})
        if world.claims and world.fits() is False:
            yield world


def world_of(request: Json) -> World:
    """Return the world of a harness request; each device in use is held by a claim of its own."""
    features = [Feature(name) for name, on in request["features"].items() if on]
    return World(
        Node.from_wire(request["node"]),
        tuple(ResourceClaim.from_wire(each) for each in request["claims"]),
        {f"held-{number}": held for number, held in enumerate(_held(request))},
        {each["metadata"]["name"]: DeviceClass.from_wire(each) for each in request["classes"]},
        tuple(ResourceSlice.from_wire(each) for each in request["slices"]),
        (),
        profile(request["release"], features, request["channel"], request.get("semantics", "upstream")),
    )


def _held(request: Json) -> Iterator[AllocationResult]:
    consumed = {tuple(each["id"]): each["cap"] for each in request.get("aggregated") or ()}
    entries = [(*key, None) for key in request.get("allocated") or ()]
    entries += [tuple(key) for key in request.get("allocatedShared") or ()]
    for driver, pool, device, share in entries:
        result = {"request": "r", "driver": driver, "pool": pool, "device": device}
        if share is not None:
            result |= {"shareID": share, "consumedCapacity": consumed.pop((driver, pool, device), {})}
        yield AllocationResult.from_wire({"devices": {"results": [result]}})


def check_reasons(world: World, found: Reasons) -> list[str]:
    """
    Return what does not hold of the reasons of a refused world; none if all of it does.

    Of reasons that are not exact the facts need not be few, but the rest holds.
    """
    facts = facts_of(world)
    core = [fact for fact in facts if (fact.code, fact.text) in found.facts]
    rest = [fact for fact in facts if fact not in core]
    how = _ending(world)
    wrong: list[str] = []
    # Without any fact nothing is claimed, unless that is called exact.
    if (core or found.exact) and _ending(_lifted(world, rest)) != how:
        wrong.append("the facts are not sufficient")
    if found.exact:
        lifted = {fact.text: _ending(_lifted(world, [*rest, fact])) for fact in core}
        wrong += [f"not necessary: {text}" for text, ending in lifted.items() if ending == how]
        wrong += [f"not shown to be necessary: {text}" for text, ending in lifted.items() if ending == UNDECIDED]
    by_fix = {fact.fix: fact for fact in facts if fact.fix}
    wrong += [f"not a fix: {fix}" for fix in found.fixes if not fix.change(world).fits()]
    wrong += [f"enough, and not listed: {text}" for text in _missed(world, found, facts)]
    lone = {step: _lifted(world, [by_fix[step]]).fits() for step in found.not_enough}
    wrong += [f"would be enough: {step}" for step, fits in lone.items() if fits]
    wrong += [f"not shown to be too little: {step}" for step, fits in lone.items() if fits is None]
    return wrong


def _missed(world: World, found: Reasons, facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the single changes that are enough and are not among the fixes."""
    listed = {step for fix in found.fixes if len(fix.steps) == 1 for step in fix.steps}
    for fact in facts:
        if fact.fix and fact.fix not in (*listed, *found.untried) and _lifted(world, [fact]).fits():
            yield fact.fix


def _ending(world: World) -> str:
    """Return what the question ends with: the code of an error, no fit, a fit, or nothing within its budget."""
    tried = world.tried()
    if tried.fits is None:
        return UNDECIDED
    return "fit" if tried.fits else tried.error or "no-fit"


def _lifted(world: World, facts: list[Fact]) -> World:
    for fact in facts:
        world = fact.without(world)
    return world


def main(arguments: list[str] | None = None) -> int:
    """Run the target and print its figures; 1 if anything did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default="1.36")
    parser.add_argument("--channel", default="experimental")
    parser.add_argument("--semantics", default="intended")
    add_option(parser)
    progress.add_option(parser)
    options = parser.parse_args(arguments)
    began, counts = time.monotonic(), Counter[str]()
    shown = progress.Progress("reasons_hold", options.cases, wanted=options.progress)
    worlds = refused_worlds(options.seed, Dialect(options.release, options.channel), options.semantics)
    for start in range(0, options.cases, PART):
        part, at = Counter[str](), time.monotonic()
        size = min(PART, options.cases - start)
        for number, world in enumerate(itertools.islice(worlds, size), start):
            part += _checked(number, world)
            shown.at(number + 1, counts["wrong"] + part["wrong"])
        append(options.record, _record(options, start, part, time.monotonic() - at))
        counts += part
    figures = ", ".join(f"{count} {name}" for name, count in sorted({**counts, "wrong": counts["wrong"]}.items()))
    print(f"{options.cases} refused worlds: {figures}; {time.monotonic() - began:.0f} s")
    return int(bool(counts["wrong"]))


def _checked(number: int, world: World) -> Counter[str]:
    """Return what the reasons of a refused world hold; prints what is wrong with them."""
    found = reasons(world)
    wrong = check_reasons(world, found)
    for text in wrong:
        print(f"case {number}: {text}", flush=True)
    counts = Counter({"exact" if found.exact else "inexact": 1, "wrong": int(bool(wrong))})
    counts["with changes untried"] = int(bool(found.untried))
    counts.update(facts=len(found.facts), fixes=len(found.fixes), **{"not enough": len(found.not_enough)})
    return counts


def _record(options: argparse.Namespace, start: int, counts: Counter[str], seconds: float) -> Record:
    return Record(
        tool="reasons_hold",
        release=options.release,
        setting=f"{options.channel}, {options.semantics}",
        seed=options.seed,
        start=start,
        cases=counts["exact"] + counts["inexact"],
        differences=counts["wrong"],
        allocated=0,
        seen={name: count for name, count in counts.items() if name != "wrong"},
        seconds=seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
