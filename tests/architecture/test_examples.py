"""
The example cluster is a legal inventory, and says of an H100 what a real driver says.
"""

from __future__ import annotations

import runpy
from functools import cache
from typing import Any

import pytest
import yaml

from tests.paths import EXAMPLES

generator = runpy.run_path(str(EXAMPLES / "generate.py"))

# Start places of each profile on one H100, and how many fit at once, as drivers and hardware have it.
PLACEMENTS = {
    "1g.10gb": ([0, 1, 2, 3, 4, 5, 6], 7),
    "1g.10gb+me": ([0, 1, 2, 3, 4, 5, 6], 1),
    "1g.20gb": ([0, 2, 4, 6], 4),
    "2g.20gb": ([0, 2, 4], 3),
    "3g.40gb": ([0, 4], 2),
    "4g.40gb": ([0], 1),
    "7g.80gb": ([0], 1),
}


@cache
def _slices() -> list[dict[str, Any]]:
    return list(yaml.load_all((EXAMPLES / "cluster" / "slices.yaml").read_bytes(), yaml.CSafeLoader))


def _numbers(counters: dict[str, Any]) -> dict[str, int]:
    return {name: int(value["value"].removesuffix("Mi")) for name, value in counters.items()}


def _partitions(profile: str) -> list[dict[str, Any]]:
    """The devices of one profile on one GPU."""
    gpu = next(item for item in _slices() if item["metadata"]["name"].endswith("gpu-3"))
    return [
        device for device in gpu["spec"]["devices"] if device["attributes"].get("profile", {}).get("string") == profile
    ]


def test_the_file_is_what_the_generator_writes():
    assert generator["main"](["--check"]) == 0


def test_each_pool_is_complete_and_within_the_limits_of_the_api():
    for node in ("h100-a", "h100-b"):
        pool = [item["spec"] for item in _slices() if item["spec"]["pool"]["name"] == node]
        assert {spec["pool"]["resourceSliceCount"] for spec in pool} == {len(pool)}
        assert all(len(spec.get("devices", ())) <= 64 for spec in pool)
        assert all(len(spec.get("sharedCounters", ())) <= 8 for spec in pool)
        assert all(("devices" in spec) != ("sharedCounters" in spec) for spec in pool)
        names = [device["name"] for spec in pool for device in spec.get("devices", ())]
        assert len(names) == len(set(names)) == 8 * 26


def test_every_device_takes_no_more_than_its_counter_set_has():
    for item in _slices():
        for device in item["spec"].get("devices", ()):
            (taken,) = device["consumesCounters"]
            sets = {
                entry["name"]: _numbers(entry["counters"])
                for other in _slices()
                if other["spec"]["pool"] == item["spec"]["pool"]
                for entry in other["spec"].get("sharedCounters", ())
            }
            have = sets[taken["counterSet"]]
            assert all(amount <= have[name] for name, amount in _numbers(taken["counters"]).items())


@pytest.mark.parametrize("profile", PLACEMENTS)
def test_placements_and_how_many_fit_at_once(profile):
    starts, at_once = PLACEMENTS[profile]
    partitions = _partitions(profile)
    assert [int(device["name"].rpartition("-")[2]) for device in partitions] == starts
    left = _numbers(generator["counters"](generator["WHOLE"], 0))
    fitted = 0
    for device in partitions:
        taken = _numbers(device["consumesCounters"][0]["counters"])
        if all(amount <= left[name] for name, amount in taken.items()):
            left = {name: amount - taken.get(name, 0) for name, amount in left.items()}
            fitted += 1
    assert fitted == at_once


def test_numbers_are_those_of_a_published_inventory(shared):
    published = list(yaml.safe_load_all((shared / "samples/nvidia/slice-dynamic-mig-h100-1gpu.yaml").read_text()))
    theirs = {device["name"]: device for device in published[1]["spec"]["devices"]}
    ours = {device["name"]: device for device in _slices()[1]["spec"]["devices"]}
    assert list(ours) == list(theirs)
    for name, device in ours.items():
        assert device["capacity"] == theirs[name]["capacity"]
        assert device["consumesCounters"] == theirs[name]["consumesCounters"]
        assert device["attributes"].keys() <= theirs[name]["attributes"].keys()
    assert _slices()[0]["spec"]["sharedCounters"][0] == published[0]["spec"]["sharedCounters"][0]
