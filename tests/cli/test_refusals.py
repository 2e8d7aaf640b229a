"""
Refusals as an engineer on call reads them: the cause first, then what to change, nearest nodes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_alloc.cli.main import run

#: File -> what its first line after the verdict has to say, and what has to be among the changes.
CASES = {
    "01-class": ("class gpu wants", "devices have model h100"),
    "04-numa": (
        "needs 4 devices under matchAttribute gpu.acme.com/numa: 3 have 0, 3 have 1",
        "asking for 3 instead of 4",
    ),
    "05-mig": ("3 of counter slices needed, 2 of 7 left in gpu-0 (ml/note holds 3, ml/small holds 2)", "freeing claim"),
    "07-two-claims": ("5 devices are needed together", 'dropping request "g" of claim ml/spare'),
    "16-twenty": ("under matchAttribute gpu.acme.com/numa", "dropping matchAttribute"),
    "C4-pool-taint": ("is incomplete: 1 of 2 slices", "and tolerating the taint"),
    "E-only-fixable-node-hidden": ("1 has 0, 1 has 1", "dropping matchAttribute"),
    "F-pair-not-offered": ("d0: allocated to ml/h0", "freeing claim ml/h0 and dropping matchAttribute"),
    "G-in-use-but-wrong-model": ("only 1 of 2 matches", "asking for 1 instead of 2"),
    "I-same-request-name": ('request "g" of claim ml/b: 1', "of claim ml/b"),
    "K2-realistic": ("taint acme.com/xid=79:NoSchedule is not tolerated", "fix: tolerating the taint"),
    "N-hint-1.34": ("under distinctAttribute x.io/model: 2 have a, 1 has b", "dropping distinctAttribute"),
    "O-needs-1-and-1-left": ("2 of counter m needed, 1 of 4 left in cs0", "asking for 2 instead of 3"),
}
#: Lines below the verdict of a refusal on one node, and on twenty.
MOST_LINES, MOST_OF_MANY = 12, 15


@pytest.mark.parametrize("name", CASES)
def test_the_cause_comes_first(name: str, shared: Path, capsys: Any) -> None:
    cause, change = CASES[name]
    assert run(["check", str(shared / "cases" / "reasons" / f"{name}.yaml")]) == 1
    printed = capsys.readouterr().out.split("\n\n")[0]
    first = " ".join(printed.partition("    fix:")[0].split())
    assert "cause: " in first
    assert cause in first
    assert change in " ".join(printed.split())
    assert len(printed.splitlines()[1:]) <= (MOST_OF_MANY if "any of" in printed else MOST_LINES)


def test_the_node_that_is_one_change_away_comes_first(tmp_path: Path, capsys: Any) -> None:
    attributes: dict[str, list[dict[str, Any]]] = {
        "n1": [{"model": {"string": "a100"}}],
        "n2": [{}],
        "n3": [{"model": {"string": "l4"}}, {"model": {"string": "l4"}}, {"model": {"string": "l4"}}],
        "n4": [{"model": {"string": "h100"}, "numa": {"int": each}} for each in (0, 1)],
    }
    wants = 'has(device.attributes["x.io"].model) && device.attributes["x.io"].model == "h100"'
    request = {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": wants}}]}
    devices = {"requests": [{"name": "g", "exactly": request}], "constraints": [{"matchAttribute": "x.io/numa"}]}
    version = {"apiVersion": "resource.k8s.io/v1"}
    documents = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        *({**version, "kind": "ResourceSlice", **_slice(node, each)} for node, each in attributes.items()),
        {**version, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": devices}},
    ]
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    assert run(["check", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  on n4:"
    assert lines[2].startswith('    cause: request "g" needs 2 devices under matchAttribute x.io/numa: 1 has 0')
    assert [line for line in lines if line.startswith("  on ")][1:] == [
        "  on n3:",
        "  on n1 and 1 other node alike:",
    ], lines


def _slice(node: str, attributes: list[dict[str, Any]]) -> dict[str, Any]:
    devices = [{"name": f"d{number}", "attributes": each} for number, each in enumerate(attributes)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "x.io", "nodeName": node, "pool": pool, "devices": devices}
    return {"metadata": {"name": f"{node}-x"}, "spec": spec}
