"""
Which questions have amounts that can grow, and what is told about them.
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.cli.harness.allocate import answer_allocate

POLICY = {"default": "1Ti", "validRange": {"min": "1Ti"}}


def request(amount: str, policy: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """Two requests for shares of one device, the first for the default."""

    def ask(name: str, asked: str | None) -> dict[str, Any]:
        exactly: dict[str, Any] = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
        if asked is not None:
            exactly["capacity"] = {"requests": {"mem": asked}}
        return {"name": name, "exactly": exactly}

    capacity = {"value": "500Ti", **({"requestPolicy": policy} if policy else {})}
    return {
        "release": "1.36.6",
        "channel": "incubating",
        "features": {"ConsumableCapacity": True},
        "node": {"metadata": {"name": "n"}},
        "claims": [
            {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [ask("r0", "1Ti"), ask("r1", amount)]}}}
        ],
        "classes": [{"metadata": {"name": "any"}}],
        "slices": [
            {
                "metadata": {"name": "s"},
                "spec": {
                    "driver": "d",
                    "nodeName": "n",
                    "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "a", "allowMultipleAllocations": True, "capacity": {"mem": capacity}}],
                },
            }
        ],
        **more,
    }


def taken(asked: dict[str, Any]) -> list[str]:
    """What the picks of the answer consume."""
    (result,) = answer_allocate(asked)["results"]
    return [each["consumedCapacity"]["mem"] for each in result["devices"]["results"]]


@pytest.mark.parametrize(
    ("amount", "policy", "expected"),
    [
        ("100Ti", POLICY, "102Ti"),
        ("99Ti", POLICY, "99Ti"),  # held as a number
        ("100Ti", None, "100Ti"),  # copied
        ("100Ti", {"default": "1Ti", "validRange": {"min": "1Ti", "step": "1Ti"}}, "100Ti"),  # rounded
        ("100Ti", {"default": "1Ti", "validRange": {"min": "1Ti", "max": "100Ti"}}, None),  # too much once it grew
    ],
)
def test_what_grows(amount: str, policy: dict[str, Any] | None, expected: str | None):
    asked = request(amount, policy)
    if expected is None:
        assert answer_allocate(asked)["results"] is None
    else:
        assert taken(asked) == ["1Ti", expected]


def test_nothing_grows_by_what_was_allocated_before():
    before = {"allocatedShared": [["d", "p", "a", "u"]], "aggregated": [{"id": ["d", "p", "a"], "cap": {"mem": "1Ti"}}]}
    assert taken(request("100Ti", POLICY, **before)) == ["1Ti", "100Ti"]


@pytest.mark.parametrize("engine", ["auto", "first-fit"])
@pytest.mark.parametrize(("semantics", "expected"), [("upstream", "102Ti"), ("intended", "100Ti")])
def test_every_engine_says_what_it_came_to(engine: str, semantics: str, expected: str):
    assert taken(request("100Ti", POLICY, engine=engine, semantics=semantics)) == ["1Ti", expected]


def test_the_newest_release_has_no_such_amounts():
    assert taken(request("100Ti", POLICY, release="1.37.2")) == ["1Ti", "100Ti"]
