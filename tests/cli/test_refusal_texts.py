"""
Refusals as they are printed, whole: one of each kind that people on call meet.

Each file of `refusals` begins with the options and with what is printed of what is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_alloc.cli.main import run

WORLDS = sorted((Path(__file__).parent / "refusals").glob("*.yaml"))
#: Lines below the verdict of a refusal on one node, and on many.
MOST, MOST_OF_MANY = 12, 15


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.stem)
def test_a_refusal_reads_as_it_should(path: Path, capsys: Any) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    options = lines[0].removeprefix("# check ").split()
    expected = [line.removeprefix("#> ") for line in lines if line.startswith("#> ")]
    assert run(["check", str(path), *options]) == 1
    printed = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert printed == expected
    assert printed[1].startswith("  cause: ")
    assert len(printed) - 1 <= (MOST_OF_MANY if " nodes" in printed[0] else MOST)


def test_of_nodes_that_are_not_told_of_one_by_one_it_is_told_in_a_clause_why(shared: Path, capsys: Any) -> None:
    assert run(["check", str(shared / "cases" / "reasons" / "16-twenty.yaml")]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "14 more nodes do not fit (-v shows why): on 6 two changes are needed; on 3 the pod does not" in printed
    unknown = "on 3 there are only 2 of 4 devices, and no fix was looked for, as others are nearer"
    assert f"NoSchedule (nor do its claims fit); {unknown}; on 2 there is no pool of devices" in printed


def test_a_caution_about_what_was_allocated_before_is_counted_with_that(
    shared: Path, tmp_path: Path, capsys: Any
) -> None:
    path = shared / "cases" / "reasons" / "10-distinct.yaml"
    run(["check", str(path), "--format", "json"])
    (made,) = json.loads(capsys.readouterr().out)["placements"][0]["allocation"]["claims"]
    objects = [each for each in yaml.safe_load_all(path.read_text()) if each["kind"] != "Pod"]
    (claim,) = (each for each in objects if each["kind"] == "ResourceClaim")
    claim["status"] = {"allocation": made["allocation"]}
    one = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": objects[2]["metadata"]["name"]}}]}}
    objects.append({**claim, "metadata": {"name": "new", "namespace": "ml"}, "spec": one, "status": {}})
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(objects))
    run(["check", str(tmp_path / "all.yaml")])
    said = "1 allocated; 1 was allocated before, 1 of them with a caution"
    assert said in " ".join(capsys.readouterr().out.split())
