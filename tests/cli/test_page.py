"""
Pages: one file that loads nothing, the same bytes for the same input, in which names stay text.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_alloc.cli.main import run
from dra_alloc.report import page
from tests.paths import EXAMPLES

HOSTILE = "</script><img src=x onerror=alert(1)>"
WHAT_IF = [
    *("what-if", str(EXAMPLES / "what-if" / "drain.yaml"), "--cluster", str(EXAMPLES / "what-if" / "cluster.yaml")),
    *("-f", str(EXAMPLES / "capacity" / "more.yaml"), "--format", "html"),
]
#: Next to nothing is asked.
PAIR = [str(EXAMPLES / "gang" / "pair.yaml"), "--cluster", str(EXAMPLES / "gang" / "one-gpu.yaml")]
CHECK = ["check", str(EXAMPLES / "workloads"), "--cluster", str(EXAMPLES / "cluster"), "--format", "html"]
REFUSED = ["check", str(EXAMPLES / "workloads" / "too-big.yaml"), *CHECK[2:]]


def told(asked: list[str], capsys: Any, code: int = 1) -> str:
    assert run(asked) == code
    return str(capsys.readouterr().out)


@cache
def of_check() -> str:
    """The page of CHECK: several look at it."""
    with redirect_stdout(StringIO()) as out:
        assert run(CHECK) == 1
    return out.getvalue()


@pytest.fixture
def hostile(tmp_path: Path) -> list[str]:
    """A claim, and a cluster, in which every name is hostile: a dump is not held against the server's rules."""
    devices = [{"name": "gpu-0", "taints": [{"key": "k", "value": HOSTILE, "effect": "NoSchedule"}]}, {"name": HOSTILE}]
    spec = {"driver": "d.example.com", "nodeName": HOSTILE, "pool": {"name": "p", "resourceSliceCount": 1}}
    objects = [
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": HOSTILE}},
        {"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**spec, "devices": devices}},
        {"kind": "DeviceClass", "metadata": {"name": HOSTILE}, "spec": {}},
        {"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    ]
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    claim = {"kind": "ResourceClaim", "metadata": {"name": "train"}, "spec": {"devices": {"requests": [request]}}}
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": HOSTILE}
    status = {"allocation": {"devices": {"results": [result]}}}
    objects.append({**claim, "metadata": {"name": HOSTILE, "namespace": HOSTILE}, "status": status})
    files = {"dump.yaml": objects, "claim.yaml": [claim]}
    for name, items in files.items():
        documents = [{"apiVersion": "resource.k8s.io/v1", **each} for each in items]
        (tmp_path / name).write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return ["check", str(tmp_path / "claim.yaml"), "--cluster", str(tmp_path / "dump.yaml"), "--format", "html"]


def test_names_stay_text(hostile, capsys):
    found = told(hostile, capsys)
    assert "<img" not in found
    assert found.count("</script>") == 1
    assert found.count("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;") >= 4


def test_nothing_is_loaded_and_nothing_else_runs():
    found = of_check()
    assert "default-src 'none'" in found.replace("&#39;", "'")
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|\bhref=|url\(|@import|https?:", found)
    assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", found)


def test_the_same_input_is_the_same_page(capsys):
    assert told(REFUSED, capsys) == told(REFUSED, capsys)
    assert told(WHAT_IF, capsys) == told(WHAT_IF, capsys)


def test_before_and_after_stand_side_by_side(capsys):
    found = told(WHAT_IF, capsys)
    gone = re.search(r"gpu-b-new-1</span>.*?</summary>", found, re.DOTALL)
    assert gone is not None
    assert re.findall(r'class="when">(\w+)</span> <span class="said">([^<]+)', gone[0]) == [
        ("before", "not there"),
        ("after", "0 of 2 free"),
    ]
    assert "0 of 2 free</span>" in found
    assert "2 of 2 free, cordoned</span>" in found
    unchanged = re.search(r"gpu-a</span>.*?</summary>", found, re.DOTALL)
    assert unchanged is not None
    assert re.findall(r'class="when">(\w+)', unchanged[0]) == ["unchanged"]


def test_states_of_devices_are_told():
    found = of_check()
    states = set(re.findall(r'<td class="\w\w">([^<]+)</td>', found))
    assert states == {"taken now", "in use", "tainted", "counters used up", "free"}
    assert '<option value="0">gpu.nvidia.com</option>' in found
    assert "fix in the manifest for h100-b: tolerating the taint" in found


def test_every_reader_of_a_gang_sees_its_devices(capsys):
    assert "Nodes</h2>" in told(["gang", *PAIR, "--format", "html"], capsys, 0)


def test_bad_input_is_a_page_too(tmp_path, capsys):
    file = tmp_path / "claim.yaml"
    file.write_text("kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {nme: x}\n", encoding="utf-8")
    assert "metadata.nme" in told(["check", str(file), "--format", "html"], capsys, 2)


def test_five_hundred_nodes_stay_below_a_megabyte_and_a_half(tmp_path, capsys):
    shapes, fleet, claims = (tmp_path / name for name in ("shapes.yaml", "fleet.json", "claims.json"))
    shapes.write_text("nodes: [{shape: h100-8, count: 500, name: node}]", encoding="utf-8")
    fleet.write_text(told(["fleet", str(shapes), "--format", "json"], capsys, 0), encoding="utf-8")
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 7}}]
    made = [
        {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": f"train-{number}"}}
        | {"spec": {"devices": {"requests": requests}}}
        for number in range(40)
    ]
    claims.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": made}), encoding="utf-8")
    found = told(["check", str(claims), "--cluster", str(fleet), "--format", "html"], capsys, 0)
    assert found.count('class="node"') == 500
    assert len(found.encode()) < 1_500_000


def test_only_a_page_loads_what_pages_need():
    program = "import sys; from dra_alloc.cli.main import run; run(sys.argv[1:]); print('jinja2' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, "check", *PAIR], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.endswith("False\n")


def test_what_is_missing_is_said_before_anything_is_asked(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page._template.cache_clear()
    assert run(["check", "no-such-file", "--format", "html"]) == 2
    assert "jinja2" in capsys.readouterr().err
