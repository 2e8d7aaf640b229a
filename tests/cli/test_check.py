"""
The command `check` as a user meets it: exit codes, streams, reasons.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dra_alloc.cli.main import run
from tests.manifests import write_manifest
from tests.paths import EXAMPLES

CLUSTER = str(EXAMPLES / "cluster")

SLICE = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {model: {string: A}}}
  - {name: gpu-1, attributes: {model: {string: B}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: r
      exactly: {deviceClassName: gpu, count: COUNT}
"""

TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: c}
spec:
  spec:
SPEC"""


def claim(count: int) -> str:
    return CLAIM.replace("COUNT", str(count))


@pytest.mark.parametrize(
    ("workload", "code", "said"),
    [
        ("fits.yaml", 0, "3 allocated"),
        ("too-big.yaml", 1, 'request "gpus" needs 8 devices, 8 of 208'),
        ("mixed.yaml", 1, "1 allocated, 2 cannot be allocated"),
    ],
)
def test_examples(capsys: pytest.CaptureFixture[str], workload: str, code: int, said: str) -> None:
    assert run(["check", str(EXAMPLES / "workloads" / workload), "--cluster", CLUSTER]) == code
    captured = capsys.readouterr()
    assert said in captured.out
    assert not captured.err
    assert all(len(line) <= 80 for line in captured.out.splitlines())


def test_json_is_one_object_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    workload = str(EXAMPLES / "workloads" / "mixed.yaml")
    assert run(["check", workload, "--cluster", CLUSTER, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["schemaVersion"] == 1
    assert report["summary"] == {
        "allocated": 1,
        "unsatisfiable": 2,
        "undecided": 0,
        "cautions": 0,
        "allocatedBefore": 0,
    }
    done = [each for each in report["placements"] if each["verdict"] == "allocated"]
    (made,) = done[0]["allocation"]["claims"]
    assert made["allocation"]["devices"]["results"][0]["device"] == "gpu-7"
    refused = [each for each in report["placements"] if each["verdict"] == "unsatisfiable"]
    assert all(refusal["requests"] for each in refused for refusal in each["refusals"])


def test_a_pod_sees_what_earlier_pods_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = TEMPLATE.replace("SPEC", textwrap.indent(claim(1).partition("spec:")[2], "  "))
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\n"
        "spec: {containers: [{name: c, image: i}], resourceClaims: [{name: gpu, resourceClaimTemplateName: c}]}\n"
        for n in range(3)
    )
    path = write_manifest(tmp_path, SLICE + "---" + template + pods)
    assert run(["check", str(path), "--format", "json"]) == 1
    placements = json.loads(capsys.readouterr().out)["placements"]
    devices = [
        each["allocation"]["claims"][0]["allocation"]["devices"]["results"][0]["device"]
        for each in placements
        if each["allocation"]
    ]
    assert devices == ["gpu-0", "gpu-1"]
    assert [each["verdict"] for each in placements] == ["allocated", "allocated", "unsatisfiable"]
    assert placements[0]["name"] == "default/p0"


def test_every_problem_is_reported_at_once_and_nothing_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = claim(1).replace("deviceClassName: gpu,", "deviceClassName: nope, selectors: [{cel: {expression: 1 +}}],")
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    pod += "spec: {containers: [{name: c, image: i}], resourceClaims: [{name: x, resourceClaimName: mine}]}\n"
    path = write_manifest(tmp_path, SLICE + "---" + wrong + pod)
    assert run(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert not captured.out
    for said in (
        "there is no DeviceClass 'nope'",
        "spec.devices.requests[0].exactly.selectors[0].cel.expression",
        "Syntax error",
        "there is no ResourceClaim default/mine",
        "spec.resourceClaims[0].resourceClaimName",
        f"{path}:",
        "3 problems",
    ):
        assert said in captured.err


def test_problems_of_loading_hide_neither_those_of_the_dump_nor_those_of_selectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = claim(1).replace("deviceClassName: gpu,", "deviceClassName: nope, selectors: [{cel: {expression: 1 +}}],")
    path = write_manifest(tmp_path, wrong + "---\napiVersion: v1\nkind: Node\nmetadata: {name: 5}\n")
    dump = tmp_path / "dump.json"
    dump.write_text("{")
    assert run(["check", str(path), "--cluster", str(dump)]) == 2
    told = capsys.readouterr().err
    for said in ("metadata.name", f"{dump}:1", "Syntax error", "3 problems"):
        assert said in told
    assert "nope" not in told  # the class may be in what could not be read


@pytest.mark.parametrize(
    "arguments",
    [
        ["--release", "1.12"],
        ["--gate", "DRANoSuchGate=true"],
        ["--gate", "DRAAdminAccess"],
        ["--node", "nowhere"],
        ["--steps", "0"],
        ["--channel", "beta"],
    ],
)
def test_bad_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    workload = str(EXAMPLES / "workloads" / "fits.yaml")
    assert run(["check", workload, "--cluster", CLUSTER, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err
    assert not captured.out


def test_a_spent_budget_gives_undecided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # First fit puts two halves on one GPU; the larger parts then find no place, and it takes long to see why.
    profiles = ["3g.40gb"] * 8 + ["4g.40gb"] * 8
    requests = "".join(
        f"    - name: r{number}\n      exactly:\n        deviceClassName: mig.nvidia.com\n        selectors:\n"
        f'        - cel: {{expression: \'device.attributes["gpu.nvidia.com"].profile == "{profile}"\'}}\n'
        for number, profile in enumerate(profiles)
    )
    path = write_manifest(tmp_path, claim(1).partition("    - name: r")[0] + requests)
    cluster = ["--cluster", str(EXAMPLES / "cluster" / "slices.yaml"), str(EXAMPLES / "cluster" / "classes.yaml")]
    assert run(["check", str(path), *cluster, "--node", "h100-a", "--steps", "1", "--solver-units", "0"]) == 3
    out = capsys.readouterr().out
    assert "undecided, the budget ran out on h100-a" in " ".join(out.split())


def test_disabled_gate_drops_fields_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tolerating = claim(1).replace("count: 1", "count: 1, tolerations: [{operator: Exists}]")
    path = write_manifest(tmp_path, SLICE + "---" + tolerating)
    assert run(["check", str(path), "--gate", "DRADeviceTaints=false"]) == 0
    out = capsys.readouterr().out
    assert "requests[0].exactly.tolerations (DRADeviceTaints) is dropped, as its gate is off" in " ".join(out.split())


def run_process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dra_alloc", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)


def test_standard_input_and_gzip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.yaml.gz"
    dump.write_bytes(gzip.compress(SLICE.encode()))
    done = run_process("check", "-", "--cluster", str(dump), stdin=claim(2).encode())
    assert done.returncode == 0, done.stderr
    assert b"gpu-0, gpu-1" in done.stdout
    assert run(["check", "-", "--cluster", "-"]) == 2
    assert capsys.readouterr().err


HOSTILE = {
    "alias bomb": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 9)) for n in range(12)),
    "cyclic alias": b"a: &a [*a]\n",
    "binary": bytes(range(256)) * 64,
    "truncated gzip": gzip.compress(SLICE.encode())[:-20],
    "deep flow": b"[" * 10_000,
    "deep block": b"".join(b" " * n + b"a:\n" for n in range(2_000)),
    "deep json": b'{"a":' * 10_000,
    "wrong types": SLICE.replace("devices:", "devices: 5\n  more:").encode(),
    "unknown field": claim(1).replace("exactly:", "exactlyy:").encode(),
    "long selector": (
        SLICE
        + "---"
        + claim(1).replace("count: 1", "selectors: [{cel: {expression: '" + "true && " * 12_500 + "true'}}]")
    ).encode(),
    "deep selector": (
        SLICE + "---" + claim(1).replace("count: 1", "selectors: [{cel: {expression: '" + "(" * 4_000 + "'}}]")
    ).encode(),
    "utf-16": SLICE.encode("utf-16"),
    "nul bytes": b"\x00" * 1_000,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_input_is_refused_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(HOSTILE[name])
    code = run(["check", str(path)])
    said, text = capsys.readouterr()
    if name == "utf-16" and code != 2:
        assert code == 0
        return
    assert code == 2, (said[:300], text[-2000:])
    assert "Traceback" not in text
    assert "hostile" in text
    assert len(text) < 20_000


def test_a_line_of_100_megabytes_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(b"x" * 100_000_000)
    assert run(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert len(err) < 20_000


def test_names_cannot_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_manifest(tmp_path, SLICE + "---" + claim(1).replace("name: c}", r'name: "a\e[31m\u202e"}'))
    assert run(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert r"a\x1b[31m\u202e" in err


@pytest.mark.parametrize(
    ("streams", "said"),
    [
        (">&-", b"standard output is closed"),
        ("<&- -", b"standard input is closed"),
        pytest.param(
            ">/dev/full",
            b"No space left",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full"),
        ),
    ],
)
def test_streams_that_are_closed_or_full_are_no_bug(streams: str, said: bytes) -> None:
    workload, cluster = str(EXAMPLES / "workloads" / "too-big.yaml"), str(EXAMPLES / "cluster")
    command = f"'{sys.executable}' -m dra_alloc check '{workload}' --cluster '{cluster}' {streams}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False, timeout=120)
    assert done.returncode == 2
    assert said in done.stderr
    assert b"Traceback" not in done.stderr


def test_nodes_beyond_those_looked_into_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = "".join(f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{number:03}}}\n" for number in range(250))
    dump = tmp_path / "dump.yaml"
    dump.write_text(nodes + "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: any}\n")
    asked = tmp_path / "claim.yaml"
    asked.write_text(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: d}\n"
        "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: any}}]}}\n"
    )
    for command in ("check", "explain"):
        assert run([command, str(asked), "--cluster", str(dump)]) == 1
        shown = " ".join(capsys.readouterr().out.split())
        assert "on any of 250 nodes" in shown
        assert "n000 and 199 other nodes alike" in shown
        assert "and 50 more nodes, not explained here (budget: 200 nodes; --node NAME explains any)" in shown
    assert run(["check", str(asked), "--cluster", str(dump), "--format", "json"]) == 1
    (placement,) = json.loads(capsys.readouterr().out)["placements"]
    assert (placement["nodesAsked"], len(placement["refusals"]), placement["nodesUnexplained"]) == (250, 200, 50)
    assert run(["check", str(asked), "--cluster", str(dump), "--node", "n249"]) == 1
    assert "not explained" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "gang"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_who_answered_is_said_with_the_answer(tmp_path, capsys, command, form):
    cluster, asked = write_manifest(tmp_path, SLICE, "s.yaml"), write_manifest(tmp_path, claim(1), "c.yaml")
    options = ["--release", "1.37.99", "--gate", "DRAResourcePoolStatus=true", "--format", form]
    assert run([command, str(asked), "--cluster", str(cluster), *options]) == 0
    said = capsys.readouterr().out
    notes = json.loads(said)["notes"] if form == "json" else [" ".join(said.split())]
    assert any("release 1.37.99 is not known here; the answer is that of 1.37.2" in each for each in notes)
    assert any("gate DRAResourcePoolStatus is known and has no effect here" in each for each in notes)
    assert run([command, str(asked), "--cluster", str(cluster), "--release", "1.37", "--format", form]) == 0
    assert "1.37.2, the newest" not in capsys.readouterr().out
