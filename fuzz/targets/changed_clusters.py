"""
After a drain, a node that goes, or a device that is tainted, what runs is what `what-if` says; needs Go.

    python -m fuzz.targets.changed_clusters [--cases 500] [--seed 1]

Of equal nodes the scheduler draws one, so that counts may differ where several were equal: those are told apart.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random

from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.check import CheckOptions
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import WhatIf, after_steps, what_if
from fuzz.oracle_build import versions
from fuzz.plane.changing import Changer
from fuzz.plane.drawing import draw_world
from fuzz.plane.programs import PROGRAM, Plane
from fuzz.target import Broken, Json, Target, command

__all__ = ["TARGET", "main"]


def _cases(seed: int) -> Iterator[Json]:
    """Yield clusters with a change and what ran after it."""
    with Plane(versions(PROGRAM)[-1], evicts=True) as plane:
        changer = Changer(plane)
        for number in itertools.count():
            yield {"release": plane.release, **changer.change(draw_world(seed, number), Random(f"{seed}-{number}"))}


def _asked(case: Json) -> WhatIf:
    settings = Settings(case["release"].rpartition(".")[0])
    whole = {"apiVersion": "v1", "kind": "List", "items": case["dump"]}
    dump = load("-", stdin=io.BytesIO(json.dumps(whole).encode()), validate="ignore")
    before, after = states(dump, Documents(), Documents(), settings)
    after, wrong = after_steps(after, steps_in({"steps": [case["step"]]})[0], load)
    if wrong:
        raise ManifestError(list(wrong))
    return what_if(before, after, CheckOptions(settings))


def _check(case: Json) -> str:
    if "unsettled" in case:
        return "unsettled"
    found = _asked(case)
    gone = sorted({name.rpartition("/")[2] for each in found.changes for name in each.evicted})
    if gone != case["gone"]:
        raise Broken(f"{case['name']} {case['step']}: evicted {case['gone']}, answered {gone}")
    answered = Counter[str]()
    for each in found.changes:
        answered[f"{each.subject.kind}/{each.subject.name.rpartition('/')[2]}"] = each.after.running
    if +answered != Counter(case["ran"]):
        if any(len(answer.equal) > 1 for each in found.changes for answer in each.after.placed):
            return "differs, by a draw among equal nodes"
        raise Broken(f"{case['name']} {case['step']}: ran {case['ran']}, answered {dict(+answered)}")
    return f"{next(iter(case['step']))}, {'evicts' if gone else 'evicts nobody'}"


TARGET = Target("changed_clusters", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
