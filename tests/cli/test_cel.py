"""The command `cel` as a user meets it: devices from files, engines, exit codes, streams."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.paths import EXAMPLES

DEVICES = """
driver: gpu.example.com
devices:
- name: gpu-0
  attributes: {model: {string: H100}, index: {int: 3}, firmware: {version: 1.2.3}}
  capacity: {memory: 80Gi}
- name: gpu-1
  attributes: {model: {string: A100}}
"""
MODEL = 'device.attributes["gpu.example.com"].model'
INDEX = 'device.attributes["gpu.example.com"].index'


@pytest.fixture
def devices(tmp_path: Path) -> str:
    path = tmp_path / "devices.yaml"
    path.write_text(DEVICES)
    return str(path)


def _ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["cel", *arguments])
    captured = capsys.readouterr()
    assert "json" in arguments or all(len(line) <= 80 for line in captured.out.splitlines())
    return code, captured.out, captured.err


def test_a_match_shows_what_was_looked_at(capsys, devices):
    code, out, err = _ran(capsys, f'{MODEL} == "H100"', "--device", devices)
    assert (code, err) == (0, "")
    assert out == (
        "type bool, estimated cost 5 of 1,000,000\n"
        "reads attribute gpu.example.com/model\n"
        "matches 1 of 2 devices\n"
        "gpu-0 (gpu.example.com): matches (cost 5)\n"
        '  attribute gpu.example.com/model = "H100"\n'
        "gpu-1 (gpu.example.com): does not match (cost 5)\n"
        '  attribute gpu.example.com/model = "A100"\n'
    )


def test_a_failure_says_why_and_what_to_do(capsys, devices):
    code, out, _ = _ran(capsys, f"{INDEX} < 4", "--device", devices)
    assert code == 1
    assert "gpu-1 (gpu.example.com): fails: no such key: index (cost 5)\n" in out
    assert "  attribute gpu.example.com/index is missing\n" in out
    assert "  hint: guard index with has(), or read it with .?index and orValue()\n" in out
    assert "fails on 1 device: each would end the scheduling attempt\n" in out
    assert out.endswith("hint: index is missing on 1 of 2 devices: guard it\n")


def test_a_selector_that_reads_all_of_a_device_shows_all_of_it(capsys, devices):
    _, out, _ = _ran(capsys, 'device.attributes.exists(k, k == "gpu.example.com")', "--device", devices)
    assert '  attribute gpu.example.com/firmware = semver("1.2.3")\n' in out
    assert '  capacity gpu.example.com/memory = quantity("80Gi")\n' in out


def test_without_devices_only_the_selector_is_told(capsys):
    code, out, _ = _ran(capsys, "device.allowMultipleAllocations")
    assert code == 0
    assert out == "type bool, estimated cost 2 of 1,000,000\nreads multi\n"


def test_json_says_the_same(capsys, devices):
    code, out, _ = _ran(capsys, f"{INDEX} < 4", "--device", devices, "--format", "json")
    found: dict[str, Any] = json.loads(out)
    assert code == 1
    assert found["summary"] == {"devices": 2, "matching": 1, "failing": 1, "undecided": 0}
    assert found["hints"] == ["index is missing on 1 of 2 devices: guard it"]
    assert [each["error"] for each in found["devices"]] == ["", "no such key: index"]
    assert found["devices"][0]["values"] == ["attribute gpu.example.com/index = 3"]


def test_a_cluster_and_devices_can_be_asked_together(capsys, devices):
    code, out, _ = _ran(capsys, "true", "--device", devices, "--cluster", str(EXAMPLES / "cluster"))
    assert code == 0
    assert "matches 418 of 418 devices" in out


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", "hint: the selector is empty"),
        ("device.foo", "undefined field 'foo'"),
        ("'", "token recognition error"),
        (f'{MODEL}s == "H100', "Syntax error"),
        ('device.attributes["model"] == "H100"', "hint: attribute maps are indexed by domain first"),
        ("\x1b[31mred", "\\x1b"),
    ],
)
def test_what_does_not_compile_is_bad_input(capsys, devices, expression, expected):
    code, out, err = _ran(capsys, expression, "--device", devices)
    assert (code, out) == (2, "")
    assert err.startswith("dra-alloc: compilation failed: ERROR: <input>:1:")
    assert expected in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "no device in this file"),
        (b"\x00\x01\x02\xff\xfe" * 100, "cannot be read as YAML"),
        (b"PK\x03\x04" + bytes(range(256)), "cannot be read as YAML"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"{}", "this is no device"),
        (b"name: x\nattributes: {a: {int: 99999999999999999999}}\n", "does not fit into 64 bits"),
    ],
)
def test_odd_device_files_are_bad_input(capsys, tmp_path, content, expected):
    path = tmp_path / "odd"
    path.write_bytes(content)
    code, out, err = _ran(capsys, "true", "--device", str(path), "--driver", "d")
    assert (code, out) == (2, "")
    assert expected in err
    assert "nothing was checked" in err
    assert len(err) < 2_000


def test_a_file_that_is_not_there(capsys, tmp_path):
    code, _, err = _ran(capsys, "true", "--device", str(tmp_path / "none.yaml"))
    assert code == 2
    assert "cannot be read: No such file or directory" in err


def test_standard_input_is_read_once(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DEVICES.encode())))
    assert _ran(capsys, "true", "--device", "-")[0] == 0
    code, _, err = _ran(capsys, "true", "--device", "-", "--cluster", "-")
    assert code == 2
    assert "standard input can be read only once" in err


def test_devices_that_no_api_server_takes_are_told_and_asked_all_the_same(capsys, tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text("name: gpu\ndriver: d\nattributes:\n  x: {string: %s}\n" % ("x" * 65))
    code, out, err = _ran(capsys, 'device.attributes["d"].x.size() == 65', "--device", str(path))
    assert code == 0
    assert "matches 1 of 1 device\n" in out
    assert err == f"warning: {path}:4: device gpu: attributes[x].string: Too long: may not be more than 64 bytes\n"
