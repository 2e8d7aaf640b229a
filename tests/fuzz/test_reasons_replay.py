"""
Worlds whose reasons were wrong once: replayed from outside they hold now; and that the replay can find what is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dra_alloc.explain.fewer import TWO_CHANGES
from fuzz.refusals import gang_replay
from fuzz.refusals.changes import changes_of
from fuzz.refusals.drawing import API, Json, namespaced
from fuzz.target import Broken
from fuzz.targets import reasons_replay

WORLDS = sorted((Path(__file__).parent / "refused").glob("*.json"))


def _held(name: str, *devices: str) -> Json:
    results = [{"request": "r0", "driver": "x.io", "pool": "n0", "device": each} for each in devices]
    made = namespaced(API, "ResourceClaim", name, {"devices": {"requests": [{"name": "r0", "exactly": ANY}]}})
    return {**made, "status": {"allocation": {"devices": {"results": results}}}}


def _gang() -> Json:
    """Return a node of four devices, one of which is held, and two pods that want two each."""
    pool = {"name": "n0", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"d{number}"} for number in range(4)]
    slices = {"driver": "x.io", "nodeName": "n0", "pool": pool, "devices": devices}
    asked = {"devices": {"requests": [{"name": "r0", "exactly": {**ANY, "count": 2}}]}}
    spec = {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t0"}]}
    containers = [{"name": "main", "image": "x", "resources": {"claims": [{"name": "c"}]}}]
    pods = [namespaced("v1", "Pod", f"g{number}", {**spec, "containers": containers}) for number in range(2)]
    cluster = {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": slices}
    made = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}}
    other = namespaced(API, "ResourceClaimTemplate", "t0", {"spec": asked})
    objects = [node, cluster, made, _held("h0", "d3"), _held("h1"), other, *pods]
    return {"options": ["--release", "1.36"], "gang": True, "objects": objects}


ANY = {"deviceClassName": "any"}
GANG = _gang()


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


@pytest.mark.parametrize(
    ("said", "instead", "wrong"),
    [
        ("n0 takes 1 of 2", "n0 takes 2 of 2", "wrong number on n0"),
        ("in whatever order", "but one by one, as kube-scheduler goes, none", "one by one 1 fit"),
        ("only 1 of 2 pods fit together (1", "only 2 of 2 pods fit together (2", "1 fit together"),
        ("by freeing claim ns/h0", "by freeing claim ns/h1", "wrong fix"),
        (", or taking from others by freeing claim ns/h0", "", "not listed: taking from others by freeing claim ns/h0"),
    ],
)
def test_what_is_wrong_of_a_gang_is_found(said: str, instead: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = gang_replay._asked
    assert gang_replay.check_gang(GANG)["refused gangs"] == 1

    def lying(world: Json, without: str = "") -> tuple[int, Json]:
        code, told = asked(world, without)
        assert world is not GANG or said in json.dumps(told)
        return code, json.loads(json.dumps(told).replace(said, instead)) if world is GANG else told

    monkeypatch.setattr(gang_replay, "_asked", lying)
    with pytest.raises(Broken, match=wrong):
        gang_replay.check_gang(GANG)


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
