"""
Every fuzz target, bounded; that each finds what it looks for; and that the table names them all.
"""

from __future__ import annotations

import importlib
import json
import re

import pytest

from dra_alloc.api import Quantity
from fuzz import target as machinery
from fuzz.recording import read
from fuzz.run_all import TOOLS, names
from fuzz.target import Broken, Target, command, run
from fuzz.targets import (
    changed_by_hand,
    dump_and_load,
    fewer_constraints,
    permuted_input,
    quantity_arithmetic,
    semver_order,
)
from tests.paths import ROOT

#: Fractions of a second each, for every Python; continuous integration runs many more (fuzz.run_ci).
CASES = {
    "add_and_remove": 6,
    "added_nodes": 1,
    "changed_by_hand": 6,
    "commented_files": 50,
    "determinism": 6,
    "dump_and_load": 10,
    "hostile_manifests": 8,
    "hostile_snapshots": 8,
    "many_askers": 1,
    "reasons_hold": 3,
    "reasons_replay": 3,
}
WITH_GO = {
    "cel_selectors": 60,
    "cel_syntax": 60,
    "control_plane": 2,
    "conversion": 60,
    "pods_on_nodes": 60,
    "quantity_upstream": 60,
    "queue_rules": 90,
    "validation": 60,
}
#: Control planes of their own, seconds to start; what they told is replayed from worlds and vectors. And
#: processes each of which is asked all questions of the command.
IN_CI_ALONE = {"changed_clusters", "dry_runs", "pod_fields", "same_bytes"}


def _main(name: str):
    return importlib.import_module(f"fuzz.targets.{name}").main


@pytest.mark.parametrize("name", sorted({*names()} - {*WITH_GO, *IN_CI_ALONE}))
def test_the_property_holds(name, capsys):
    code = _main(name)(["--cases", str(CASES.get(name, 40)), "--seed", "7"])
    assert code in (0, 3), capsys.readouterr().out


@pytest.mark.needs_go
@pytest.mark.parametrize("name", sorted(WITH_GO))
def test_the_property_holds_against_upstream(name, capsys):
    code = _main(name)(["--cases", str(WITH_GO[name]), "--seed", "7"])
    if code == 3:
        pytest.skip("needs go: the modules of upstream cannot be had")
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("number", [1, 3, 11])
def test_what_is_known_of_a_pod_is_of_one_cluster(number):
    """Clusters before and after a change have pods in common, and other nodes by the same numbers."""
    changed_by_hand.TARGET.check({"seed": 7001, "number": number})


def test_the_table_names_every_target():
    page = (ROOT / "fuzz" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted({*names(), *TOOLS, "upstream_table"})


def _numbers(seed: int):
    return ({"number": number} for number in range(seed, seed + 1000))


def _small(case) -> str:
    if case["number"] > 40:
        raise Broken(f"large: {case['number']}")
    return "even" if case["number"] % 2 == 0 else "odd"


def test_a_broken_property_is_told_and_recorded(tmp_path, capsys):
    record, saved = tmp_path / "runs.jsonl", tmp_path / "broken.jsonl"
    target = Target("small", _numbers, _small, shrinks=False)
    arguments = ["--cases", "200", "--seed", "31", "--record", str(record), "--save", str(saved)]
    assert command(target, arguments) == 1
    assert "large: 41" in capsys.readouterr().out
    (made,) = read(record)
    assert (made.tool, made.seed, made.differences) == ("small", 31, machinery.STOP_AFTER)
    assert made.seen == {"even": 5, "odd": 5}
    assert json.loads(saved.read_text().splitlines()[0])["case"] == {"number": 41}


def test_a_crash_breaks_every_property():
    found = run(Target("crash", _numbers, lambda case: str(1 // (case["number"] - 3))), 1, 5)
    assert [text for _, text in found.broken] == ["ZeroDivisionError: integer division or modulo by zero"]


def test_a_broken_case_is_made_small(capsys):
    def check(case) -> str:
        if any(len(claim["spec"]["devices"]["requests"]) > 1 for claim in case["claims"]):
            raise Broken("two requests: are too many")
        return "fine"

    assert command(Target("requests", machinery.requests, check), ["--cases", "30", "--shrink", "--show", "1"]) == 1
    (shown,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  {"))
    case = json.loads(shown)
    assert [len(claim["spec"]["devices"]["requests"]) for claim in case["claims"]] == [2]
    assert not case.get("slices")


@pytest.mark.parametrize(
    ("target", "name", "wrong"),
    [
        (quantity_arithmetic.TARGET, "dra_alloc.api.Quantity.__add__", lambda left, right: left),
        (quantity_arithmetic.TARGET, "dra_alloc.api.Quantity.value", lambda quantity: quantity.nano // 10**9),
        (semver_order.TARGET, "dra_alloc.api.Semver.compare", lambda left, right: 0),
        (permuted_input.TARGET, "fuzz.targets.permuted_input.ours", lambda request: {"err": request["classes"][0]}),
        (dump_and_load.TARGET, "dra_alloc.api.ResourceClaim.to_wire", lambda claim: {"kind": "ResourceClaim"}),
    ],
)
def test_targets_see_what_they_look_for(target, name, wrong, monkeypatch):
    monkeypatch.setattr(name, wrong)
    assert run(target, 1, 60).broken


def test_a_constraint_that_helps_is_seen(monkeypatch):
    def only_with_constraint(request):
        constrained = any(claim["spec"]["devices"].get("constraints") for claim in request["claims"])
        return {"verdict": "allocated" if constrained else "unsatisfiable"}

    monkeypatch.setattr(fewer_constraints, "ours", only_with_constraint)
    assert run(fewer_constraints.TARGET, 1, 60).broken


@pytest.mark.parametrize("text", ["1", "1.5Gi", "-0.1n", "1e3", "1E", ".5", "9223372036854775808Ki"])
def test_the_meaning_of_a_text(text):
    meaning = quantity_arithmetic.meaning(text)
    assert meaning is not None
    assert meaning * 10**9 == Quantity.parse(text).nano
