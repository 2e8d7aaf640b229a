"""
Of random clusters and changes, `what-if` answers as a fresh check of the cluster that was changed by hand, in JSON.

    python -m fuzz.targets.changed_by_hand [--cases 500] [--seed 1]

A change is one step of a scenario, or up to three of them; what runs was placed by this package.
Budgets of disruptions, tolerations for a time and a clock are drawn, too.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import Check
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import after_steps, what_if
from fuzz.by_hand.drawing import draw_budgets, draw_step, draw_tolerations
from fuzz.by_hand.editing import ByHand
from fuzz.by_hand.running import documents, running
from fuzz.plane.drawing.world import draw_world
from fuzz.target import Broken, Json, Target, command

_SETTINGS: Final = Settings("1.37")
#: Said of taints under a release that does not know them: by hand they would have one.
_NO_EFFECT: Final = "have no effect in"


def _cases(seed: int) -> Iterator[Json]:
    for number in itertools.count():
        yield {"seed": seed, "number": number, "timed": True}


def _check(case: Json) -> str:
    seed, number, timed = case["seed"], case["number"], case.get("timed", False)
    random = Random(f"{seed}-{number}")
    world = draw_world(seed, number)
    if timed:
        work = [each for step in world["work"] for each in (step if isinstance(step, list) else [step])]
        draw_tolerations(work, random)
    try:
        objects = running(world, _SETTINGS, random)
    except ManifestError:
        return "no cluster"
    if timed:
        objects += draw_budgets(objects, random)
    hand = ByHand(copy.deepcopy(objects), _SETTINGS)
    steps = []
    for _ in range(random.choice((1, 2, 2, 3) if timed else (1, 2, 2))):
        kind, taken = draw_step([*hand.there, *hand.applied], random, timed=timed)
        steps.append((kind, taken))
        try:
            hand.do(kind, taken)
        except InputError:
            return "refused steps"
    said = steps[0][0] if len(steps) == 1 else f"{len(steps)} steps"
    try:
        answered, wanted = _answered(objects, steps), _fresh(hand)
    except InputError:
        return "refused steps"
    if not answered and wanted and _bad_on_the_way(ByHand(copy.deepcopy(objects), _SETTINGS), steps):
        return "bad input on the way"  # which a later step replaces
    if answered != wanted:
        raise Broken(f"{world['name']} {steps}: {_difference(answered, wanted)}")
    return said if answered else f"bad input: {said}"


def _answered(objects: list[Json], steps: list[tuple[str, Json]]) -> dict[str, str]:
    """Return what becomes of each pod by `what-if`; nothing for bad input."""
    asked: list[Json] = []
    try:
        with TemporaryDirectory() as folder:
            for number, (kind, taken) in enumerate(steps):
                if kind != "apply":
                    asked.append({kind: taken})
                    continue
                # Files of their own, as each is in the order of its own text.
                file = Path(folder) / f"{number}.json"
                file.write_text("\n".join(map(json.dumps, taken["objects"])), encoding="utf-8")
                asked.append({kind: {"paths": [str(file)]}})
            before, after = states(documents(objects), Documents(), Documents(), _SETTINGS)
            scenario, wrong = steps_in({"steps": asked})
            after, more = after_steps(after, scenario, lambda path: load(path, validate="ignore"))
        if wrong or any(_NO_EFFECT not in each.message for each in more):
            raise Broken(f"{steps}: {[*wrong, *more]}")
        if more:
            raise InputError(more[0].message)
        return _told(what_if(before, after, CheckOptions(_SETTINGS, reasons=False)).after)
    except ManifestError:
        return {}


def _fresh(hand: ByHand) -> dict[str, str]:
    try:
        return _told(hand.checked())
    except ManifestError:
        return {}


def _bad_on_the_way(hand: ByHand, steps: list[tuple[str, Json]]) -> bool:
    """Say whether the cluster is bad input after one of the steps."""
    for kind, taken in steps:
        hand.do(kind, taken)
        if not _fresh(hand):
            return True
    return False


def _told(found: Check) -> dict[str, str]:
    """Return node and devices of each pod that is asked for, or that it has none."""
    told = {"": "asked"}
    for each in found.placements:
        if each.allocated is None:
            told[each.name] = each.verdict
            continue
        claims = [claim.status.allocation for claim in each.allocated.claims]
        devices = [
            f"{result.pool}/{result.device}"
            for claim in claims
            if claim is not None
            for result in claim.devices.results
        ]
        told[each.name] = f"{each.allocated.node} {' '.join(devices)}"
    return told


def _difference(answered: dict[str, str], wanted: dict[str, str]) -> str:
    if not answered or not wanted:
        return f"bad input for {'the fresh check' if answered else 'what-if'} alone"
    names = sorted(name for name in {*answered, *wanted} if answered.get(name) != wanted.get(name))
    return "; ".join(f"{name}: {answered.get(name)}, by hand {wanted.get(name)}" for name in names[:5])


TARGET = Target("changed_by_hand", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
