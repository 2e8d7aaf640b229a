"""
Recorded worlds of a real control plane: every pod goes where it went there, with the same devices and the same words.
"""

from __future__ import annotations

import pytest

from fuzz.plane.comparing import Tally, compare
from fuzz.plane.state import recorded
from tests.paths import ROOT

WORLDS = [world for path in sorted((ROOT / "tests" / "conformance" / "worlds").iterdir()) for world in recorded(path)]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world["name"])
def test_the_answer_is_what_ran(world):
    tally = Tally()
    assert compare(world, tally) == []
    assert tally.agreed


def test_the_worlds_show_what_they_are_for():
    assert len(WORLDS) > 100
    scored = [each for world in WORLDS for step in world["steps"] for each in step["attempts"] if "scores" in each]
    pending = [each for world in WORLDS for step in world["steps"] for each in step["attempts"] if not each["node"]]
    devices = [claim for world in WORLDS for claim in world["claims"].values() if claim["status"].get("allocation")]
    assert min(len(scored), len(pending), len(devices)) > 100
