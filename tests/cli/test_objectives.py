"""
Objectives on the command line: names, files, scores.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dra_alloc.cli.main import run
from dra_alloc.cli.options import OBJECTIVES
from tests.manifests import write_manifest
from tests.paths import EXAMPLES

FITS = [str(EXAMPLES / "workloads" / "fits.yaml"), "--cluster", str(EXAMPLES / "cluster")]
PRICES = ["--prices", str(EXAMPLES / "prices.yaml")]
SMALL = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices: [{name: a}, {name: b}, {name: c}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: any}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: any}}]}}
"""


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run([*arguments, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def device(report) -> str:
    found: str = report["placements"][0]["allocation"]["claims"][0]["allocation"]["devices"]["results"][0]["device"]
    return found


def test_every_score_is_told(capsys: pytest.CaptureFixture[str], solver) -> None:
    names = "highest-ranked,least-fragmented,fewest-nodes"
    report = output(capsys, "check", *FITS, "--objective", names)
    for placement in report["placements"]:  # type: ignore[attr-defined]
        scores = placement["allocation"]["scores"]
        assert [score["objective"] for score in scores] == names.split(",")
        assert all(score["proven"] and score["value"] == score["bound"] for score in scores)
    assert report["semantics"] == "intended"


def test_a_node_of_an_earlier_pod_does_not_count_again(capsys: pytest.CaptureFixture[str], solver) -> None:
    report = output(capsys, "check", *FITS, "--objective", "fewest-nodes")
    values = [each["allocation"]["scores"][0]["value"] for each in report["placements"]]  # type: ignore[attr-defined]
    assert values == [1, 0, 0]


def test_text_says_what_is_proven(capsys: pytest.CaptureFixture[str], solver) -> None:
    assert run(["explain", *FITS, "--objective", "cheapest", *PRICES]) == 0
    out = capsys.readouterr().out
    assert "cheapest: 160, and less is not possible" in out
    assert "note: objectives are asked for what the API promises" in out


def test_text_states_the_gap(capsys: pytest.CaptureFixture[str], solver) -> None:
    assert run(["check", *FITS, "--objective", "least-fragmented", "--solver-units", "0"]) == 0
    assert ", and 0 is not ruled out: the budget ran out" in capsys.readouterr().out


def test_prices_of_devices_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], solver) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("devices: [{price: 1, device: b}, {price: 2, driver: d}]", encoding="utf-8")
    path = str(write_manifest(tmp_path, SMALL))
    assert device(output(capsys, "check", path, "--objective", "cheapest", "--prices", str(prices))) == "b"


@pytest.mark.parametrize("command", ["check", "gang"])
def test_a_report_is_a_previous_answer(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], solver
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("devices: [{price: 0, device: c}, {price: 2, driver: d}]", encoding="utf-8")
    path = str(write_manifest(tmp_path, SMALL))
    before = output(capsys, command, path, "--objective", "cheapest", "--prices", str(prices))
    report = tmp_path / "before.json"
    report.write_text(json.dumps(before), encoding="utf-8")
    assert device(output(capsys, "check", path, "--objective", "stable", "--previous", str(report))) == "c"
    assert device(output(capsys, "check", path)) == "a"


def test_claims_with_a_status_are_a_previous_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str], solver) -> None:
    claims = tmp_path / "claims.yaml"
    status = "status: {allocation: {devices: {results: [{request: r, driver: d, pool: node-1, device: b}]}}}"
    claims.write_text(
        SMALL.rpartition("---")[2].replace("{name: one}", "{name: one, namespace: default}") + status, encoding="utf-8"
    )
    path = str(write_manifest(tmp_path, SMALL))
    assert device(output(capsys, "check", path, "--objective", "stable", "--previous", str(claims))) == "b"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--objective", "cheapest"], "objective cheapest and --prices go together"),
        (["--objective", "highest-ranked", *PRICES], "objective cheapest and --prices go together"),
        (["--objective", "stable"], "objective stable and --previous go together"),
        (["--objective", "stable,stable"], "objective stable is named twice"),
        (["--objective", "fastest"], "'fastest' is none of fewest-nodes"),
        (["--objective", "cheapest", "--prices", "no-such-file"], "no-such-file"),
        (["--objective", "stable", "--previous", FITS[0]], "holds no allocation to be stable to"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *FITS, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("devices: 1", "devices: has to be a list"),
        ("devices: [{price: -1}]", ":1: devices[0].price: has to be a whole number from 0 to"),
        ("devices: [{price: 1.5}]", "devices[0].price: has to be a whole number"),
        ("nodes:\n- price: 1\n- price: 2\n  name: 3", ":4: nodes[1].name: has to be a string"),
        ("devices: [{price: 1, colour: red}]", 'devices[0]: unknown field "colour"'),
        ("nodes: [{price: 1, labels: {zone: 3}}]", "nodes[0].labels.zone: has to be str"),
        ("nodes: [{price: 1, name: 3}]", "nodes[0].name: has to be a string"),
        ("{}", "a price list needs an entry under devices or nodes"),
        ("[]", "has to be a mapping of devices, nodes"),
        ("a: b: c", "cannot be read as YAML"),
        ("devices:\n- price: 1\n  price: 2", ':3: duplicate field "devices[0].price"'),
        ('{"devices": [{"price": 1}], "devices": []}', ':1: duplicate field "devices"'),
        ("devices: [{price: 1}]\n---\ndevices: [{price: 2}]", "a price list is one document, and this file has 2"),
    ],
)
def test_a_price_list_that_is_none(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    assert run(["check", *FITS, "--objective", "cheapest", "--prices", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_is_no_price_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *FITS, "--objective", "cheapest", "--prices", str(tmp_path)]) == 2
    assert f"{tmp_path}: is a folder, and a price list is one file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "gang"])
def test_prices_of_nothing_are_noted(command, tmp_path: Path, capsys: pytest.CaptureFixture[str], solver) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "devices: [{price: 1, driver: e}, {price: 2}, {price: 3, driver: d}]\nnodes: [{price: 4, name: far}]", "utf-8"
    )
    path = str(write_manifest(tmp_path, SMALL))
    run([command, path, "--objective", "cheapest", "--prices", str(prices)])
    said = " ".join(capsys.readouterr().out.split())
    assert "price devices[0] counts for nothing: it is for no device of the cluster" in said
    assert "price devices[1]" not in said
    assert "price devices[2] counts for nothing: the devices it is for have an earlier entry" in said
    assert "price nodes[0] counts for nothing: it is for no node of the cluster" in said


@pytest.mark.parametrize(("name", "noted"), [("one", False), ("other", True)])
def test_a_previous_answer_about_other_claims_is_noted(name, noted, tmp_path: Path, capsys, solver) -> None:
    claims = tmp_path / "claims.yaml"
    status = "status: {allocation: {devices: {results: [{request: r, driver: d, pool: node-1, device: b}]}}}"
    claims.write_text(
        SMALL.rpartition("---")[2].replace("{name: one}", f"{{name: {name}, namespace: default}}") + status, "utf-8"
    )
    path = str(write_manifest(tmp_path, SMALL))
    report = output(capsys, "check", path, "--objective", "stable", "--previous", str(claims))
    said = "the previous answer plays no part: it is about default/other, and none of these claims is placed here"
    assert (said in json.dumps(report["notes"])) is noted


def test_a_report_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "previous.json"
    path.write_text('{"schemaVersion": 1, "placements": [3]}', encoding="utf-8")
    assert run(["check", *FITS, "--objective", "stable", "--previous", str(path)]) == 2
    assert "is no report of check or gang" in capsys.readouterr().err


def test_the_parser_knows_every_objective() -> None:
    from dra_alloc.cli.objectives import _MADE  # noqa: PLC0415 - the table behind the option

    assert set(OBJECTIVES) == set(_MADE)
