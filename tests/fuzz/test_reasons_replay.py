"""
Worlds whose reasons were wrong once: replayed from outside they hold now; and that the replay can find what is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dra_alloc.explain.reasons import TWO_CHANGES
from fuzz.refusals.changes import changes_of
from fuzz.refusals.drawing import Json
from fuzz.target import Broken
from fuzz.targets import reasons_replay

WORLDS = sorted((Path(__file__).parent / "refused").glob("*.json"))


def world(path: Path) -> Json:
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("path", WORLDS, ids=[each.stem for each in WORLDS])
def test_what_was_broken_once_holds(path: Path) -> None:
    counts = reasons_replay.TARGET.check(world(path))
    assert isinstance(counts, Counter)
    assert counts["refused worlds"] == 1


@pytest.mark.parametrize(
    ("asked", "answer", "wrong"),
    [("_fits", False, "wrong fix"), ("_could", True, "facts do not suffice")],
)
def test_what_is_wrong_is_found(asked: str, answer: bool, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if what is proposed did not help, or who is refused could have had devices all the time."""
    monkeypatch.setattr(reasons_replay, asked, lambda *_: answer)
    with pytest.raises(Broken, match=wrong):
        reasons_replay.TARGET.check(world(WORLDS[0]))


def test_a_fix_after_which_nothing_is_asked_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = world(WORLDS[0])
    monkeypatch.setattr(reasons_replay, "is_asking", lambda asked: asked is drawn)
    with pytest.raises(Broken, match="nothing is asked for any more"):
        reasons_replay.TARGET.check(drawn)


def test_two_changes_told_as_not_tried_are_counted_and_others_are_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reasons_replay, "_helps", lambda *_: True)
    drawn = world(WORLDS[0])
    asked = drawn, "n0", list(changes_of(drawn, "n0"))
    told = {"fixes": [], "notTried": [TWO_CHANGES]}
    assert reasons_replay._pairs(*asked, told) == "two changes, told as not tried"
    with pytest.raises(Broken, match="pair not found"):
        reasons_replay._pairs(*asked, {"fixes": [], "notTried": []})
