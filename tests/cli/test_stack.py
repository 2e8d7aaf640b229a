"""
The page on DRA, KAI and Grove together: its manifests, asked as the page asks them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

STACK = EXAMPLES / "stack"


def admitted(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    dump = [f"{STACK}/cluster.yaml", *(f"{STACK}/{each}" for each in more)]
    code = run(["admit", f"{STACK}/inference.yaml", "--cluster", *dump, "--format", "json"])
    return code, {each["name"]: each for each in json.loads(capsys.readouterr().out)["workloads"]}


def racks(workload: dict[str, Any]) -> dict[str, list[str]]:
    return {each["group"]: each["values"] for each in workload["topology"]["domains"]}


def test_base_gang_and_scaled_gang_have_a_rack_each(capsys):
    code, found = admitted(capsys)
    base, scaled = found["serving/llm-0"], found["serving/llm-0-prefill-0"]
    assert (code, base["verdict"], scaled["verdict"]) == (0, "placed", "placed")
    assert racks(base) == {
        "serving/llm-0": ["hall-1"],
        "llm-0-decode": ["hall-1", "r1"],
        "llm-0-prefill-0": ["hall-1", "r2"],
    }
    assert racks(scaled) == {"serving/llm-0-prefill-0": ["hall-1", "r3"]}
    assert scaled["after"] == "llm-0"
    assert base["waves"] == [["decode", "prefill-leader"], ["router", "prefill-worker"]]
    by_node: dict[str, list[str]] = {}
    for each in (*base["pods"], *scaled["pods"]):
        if "router" not in each["name"]:
            by_node.setdefault(each["node"], []).append(each["name"])
    assert sorted(by_node) == [f"tray-r{number}{tray}" for number in (1, 2, 3) for tray in "ab"]
    assert {len(each) for each in by_node.values()} == {1}


def test_with_one_gpu_less_no_rack_holds_the_scaled_gang(capsys):
    code, found = admitted(capsys, "taken.yaml")
    base, scaled = found["serving/llm-0"], found["serving/llm-0-prefill-0"]
    assert (code, base["verdict"], scaled["verdict"]) == (1, "placed", "admitted-not-allocatable")
    rooms = {each["values"][-1]: (each["placed"], each["of"]) for each in scaled["topology"]["rooms"]}
    assert rooms == {"r1": (0, 2), "r2": (0, 2), "r3": (1, 2)}


def test_invented_shapes_are_named(capsys):
    assert run(["lint", f"{STACK}/invented.yaml", "--format", "json"]) == 1
    codes = [each["code"] for each in json.loads(capsys.readouterr().out)["findings"]]
    assert sorted(codes) == ["K107", "K107", "K107", "W801", "W802", "W802"]


def test_the_manifests_of_the_page_are_clean(capsys):
    assert run(["lint", f"{STACK}/inference.yaml", "--cluster", f"{STACK}/cluster.yaml"]) == 0
