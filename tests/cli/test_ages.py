"""
What a dump is worth: how old it is, and pools that are published only in part.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from dra_alloc.cli.ages import told
from dra_alloc.cli.main import run
from tests.paths import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "what-if"
MORE = str(EXAMPLE.with_name("capacity") / "more.yaml")


@pytest.fixture
def objects():
    with (EXAMPLE / "cluster.yaml").open(encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def said(hours: float) -> str:
    return f"{datetime.now(UTC) - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"


def asked(capsys, *arguments):
    code = run(["check", MORE, *map(str, arguments)])
    return code, *capsys.readouterr()


def beating(objects, hours):
    """Give each Node a heartbeat, each older by an hour, and the first one a lease beside it."""
    found = copy.deepcopy(objects)
    nodes = [each for each in found if each["kind"] == "Node"]
    for number, each in enumerate(nodes):
        each["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
        beat = {"lastHeartbeatTime": said(hours + number), "lastTransitionTime": said(0)}
        each["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "r", "message": "m", **beat}]
    return found


@pytest.mark.parametrize("stray", ["2199-01-01T00:00:00Z", "2026-13-01T00:00:00Z"], ids=["ahead", "no time"])
def test_what_no_clock_wrote_does_not_make_a_dump_young(stray, objects, tmp_path, capsys):
    found = beating(objects, 3)
    found[0]["metadata"]["annotations"] = {"note": f'lastHeartbeatTime: "{stray}"'}
    dump = tmp_path / "dump.yaml"
    dump.write_text(yaml.safe_dump_all(found), encoding="utf-8")
    code, _, err = asked(capsys, "-c", dump, "--max-age", "170m")
    assert (code, "by its newest heartbeat" in err) == (2, True)


@pytest.mark.parametrize("form", ["yaml", "json", "json.gz"])
def test_a_dump_is_as_old_as_its_newest_heartbeat(form, objects, tmp_path, capsys):
    dump = tmp_path / f"dump.{form}"
    found = beating(objects, 3)
    text = (
        yaml.safe_dump_all(found)
        if form == "yaml"
        else json.dumps({"kind": "List", "apiVersion": "v1", "items": found})
    )
    dump.write_bytes(gzip.compress(text.encode()) if form == "json.gz" else text.encode())
    code, _, err = asked(capsys, "-c", dump, "--max-age", "4h")
    assert code == 1
    assert "dump." in err
    assert "is 3 h old by its newest heartbeat" in err or "is 3 h 1 s old" in err
    code, out, err = asked(capsys, "-c", dump, "--max-age", "170m")
    assert (code, out) == (2, "")
    assert "older than --max-age 2 h 50 min (dump the cluster anew)" in err
    assert "by its newest heartbeat" in err
    code, out, _ = asked(capsys, "-c", dump, "--max-age", "170m", "--format", "sarif")
    assert (code, "older than --max-age" in out) == (2, True)


def test_a_file_without_heartbeats_is_as_old_as_it_was_written_and_all_that_are_too_old_are_told(
    tmp_path, objects, capsys
):
    new, old, older = (tmp_path / name for name in ("new.yaml", "old.yaml", "older.yaml"))
    new.write_text(yaml.safe_dump_all(beating(objects, 0)), encoding="utf-8")
    for number, each in enumerate((old, older), 1):
        each.write_text(
            f"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: n{number}}}\nspec: {{}}\n",
            encoding="utf-8",
        )
        os.utime(each, (time.time() - 86_400 * number,) * 2)
    code, _, err = asked(capsys, "-c", new, old, older, "--max-age", "1h")
    assert code == 2
    assert f"note: {new} is" in err
    assert f"{old}: is 1 d" in err
    assert f"{older}: is 2 d" in err
    assert "by the time of the file, as it has no heartbeat" in err
    assert asked(capsys, "-c", new, old, older, "--max-age", "3d")[0] == 1


def test_an_age_that_cannot_be_told_or_read_is_refused(capsys):
    code, _, err = asked(capsys, "-c", "-", "--max-age", "1h")
    assert (code, "how old standard input is cannot be told" in err) == (2, True)
    for wrong in ("", "h", "1w", "-1h", "1.5h", "٣h", "1" * 20 + "d"):
        code, _, err = asked(capsys, "-c", EXAMPLE / "cluster.yaml", f"--max-age={wrong}")
        assert (code, "is no time span" in err) == (2, True), wrong


def test_clusters_of_a_sweep_have_an_age_too(tmp_path, objects, capsys):
    dump = tmp_path / "dump.yaml"
    dump.write_text(yaml.safe_dump_all(beating(objects, 3)), encoding="utf-8")
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text("clusters: [dump.yaml]\nscenarios: {n: {steps: [{wait: {seconds: 1}}]}}\n", encoding="utf-8")
    code = run(["what-if", "--sweep", str(sweep), "--max-age", "1h"])
    assert (code, "older than --max-age 1 h" in capsys.readouterr().err) == (2, True)


def test_time_spans_are_told_by_their_two_largest_units():
    assert [told(each) for each in (0, 59, 3_600, 90_061, 7 * 86_400 + 1)] == [
        "0 s",
        "59 s",
        "1 h",
        "1 d 1 h",
        "7 d 1 s",
    ]


def test_a_pool_between_two_generations_is_a_note(objects, tmp_path, capsys):
    dump = tmp_path / "dump.yaml"
    (there,) = [each for each in objects if each["kind"] == "ResourceSlice" and each["metadata"]["name"] == "gpu-a"]
    coming = copy.deepcopy(there)
    coming["metadata"]["name"] = "gpu-a-2"
    coming["spec"]["pool"] |= {"generation": 3, "resourceSliceCount": 2}
    dump.write_text(yaml.safe_dump_all([*objects, coming]), encoding="utf-8")
    told_of = "being republished, so that none of its devices is available now: gpu.example.com/gpu-a, generation 3 has"
    for command in (["check", MORE], ["what-if", "-f", MORE], ["capacity", MORE], ["gang", MORE, "--most"]):
        run([*command, "-c", str(dump), "--format", "json"])
        notes = json.loads(capsys.readouterr().out)["notes"]
        assert any(told_of in each for each in notes), command
    there["spec"]["pool"]["resourceSliceCount"] = 3
    dump.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    _, out, _ = asked(capsys, "-c", dump, "--format", "json")
    assert any("not published as a whole" in each and "1 of 3 slices" in each for each in json.loads(out)["notes"])
    _, out, _ = asked(capsys, "-c", EXAMPLE / "cluster.yaml", "--format", "json")
    assert not any("published" in each for each in json.loads(out)["notes"])
