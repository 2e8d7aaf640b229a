"""
The first path of the search: answers where devices are shared, for requests for all, and without a board.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.solve.direct import picks_of

Json = dict[str, Any]
SELECTING = [{"cel": {"expression": "device.attributes['x.example'].model == 'a'"}}]


def _asked(devices: list[Json], request: Json, count: int = 1, **more: Any) -> Json:
    spec = {
        "driver": "x.example",
        "nodeName": "node-1",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": count},
        "devices": [{"attributes": {"model": {"string": "a"}}, **each} for each in devices],
    }
    exactly = {"deviceClassName": "any", "selectors": SELECTING, "allocationMode": "ExactCount", **request}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}
    return {
        "release": "1.37",
        "features": {"ConsumableCapacity": True},
        "slices": [{"metadata": {"name": "s"}, "spec": spec}],
        "classes": [{"metadata": {"name": "any"}, "spec": {}}],
        "claims": [claim],
        **more,
    }


def _direct(asked: Json) -> list[str] | None:
    """The devices of the direct answer, none for "no"; asked three times, as what is known changes how it answers."""
    allocator, node, claims = read_request(asked)
    answers = []
    for _ in range(3):
        found = allocator.direct.answer(node, claims, None)
        if found is None:
            return None
        picks = picks_of(found.admitted.asks, found.view.slices, found.choice) if found.choice.found else ()
        answers.append([pick.device.key.device for pick in picks])
    assert answers[1:] == answers[:-1]
    plain = allocator.allocate(node, claims, engine="first-fit")
    assert [pick.device.key.device for pick in getattr(plain, "picks", ())] == answers[0]
    return answers[0]


def _shareable(name: str, memory: str = "10Gi") -> Json:
    return {"name": name, "allowMultipleAllocations": True, "capacity": {"memory": {"value": memory}}}


@pytest.mark.parametrize(
    ("amount", "count", "devices"),
    [("4Gi", 1, ["a"]), ("8Gi", 1, ["b"]), ("4Gi", 2, ["a", "b"]), ("11Gi", 1, []), ("8Gi", 2, [])],
)
def test_what_is_left_of_shared_devices_decides(amount: str, count: int, devices: list[str]) -> None:
    asked = _asked(
        [_shareable("a"), _shareable("b")],
        {"count": count, "capacity": {"requests": {"memory": amount}}},
        aggregated=[{"id": ["x.example", "p", "a"], "cap": {"memory": "5Gi"}}],
    )
    assert _direct(asked) == devices


def test_all_is_what_matches_unless_some_is_held() -> None:
    named: list[Json] = [{"name": "a"}, {"name": "b", "attributes": {"model": {"string": "b"}}}, {"name": "c"}]
    every = {"allocationMode": "All"}
    assert _direct(_asked(named, every)) == ["a", "c"]
    assert _direct(_asked(named, every, allocated=[["x.example", "p", "c"]])) == []
    assert _direct(_asked(named, every, allocated=[["x.example", "p", "b"]])) == ["a", "c"]
    assert _direct(_asked([{"name": "b", "attributes": {"model": {"string": "b"}}}], every)) == []


def test_all_of_more_than_a_claim_may_have_is_left_to_the_search() -> None:
    assert _direct(_asked([{"name": f"d{number}"} for number in range(33)], {"allocationMode": "All"})) is None


def test_no_more_is_judged_than_the_search_comes_to() -> None:
    broken: Json = {"name": "b", "attributes": {"other": {"string": "no model: the selector fails"}}}
    assert _direct(_asked([{"name": "a"}, broken], {"count": 1})) is not None
    allocator, node, claims = read_request(_asked([{"name": "a"}, broken], {"count": 2}))
    assert allocator.direct.answer(node, claims, None) is None


@pytest.mark.parametrize("shared", [False, True])
def test_an_amount_that_is_an_error_ends_the_search_before_a_taint_refuses(shared: bool) -> None:
    negative = {"name": "b", "capacity": {"memory": {"value": "-1"}}, "allowMultipleAllocations": shared}
    tainted = {**negative, "taints": [{"key": "k", "effect": "NoSchedule"}]}
    features = {"ConsumableCapacity": True, "DeviceTaints": True}
    asked = _asked([_shareable("a"), tainted, _shareable("c")], {"count": 2}, features=features)
    assert _direct(asked) is None
