"""
The command `gang`: what the scheduler's order loses, a joint placement finds.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dra_alloc.cli.main import run
from tests.manifests import write_manifest
from tests.paths import EXAMPLES

SLICE = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s-NODE}
spec:
  driver: gpu.example.com
  nodeName: NODE
  pool: {name: NODE, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: plain, attributes: {big: {bool: false}}}
  - {name: large, attributes: {big: {bool: true}}}
---
"""
CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
---
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec:
  devices:
    requests:
    - name: r
      exactly: {deviceClassName: gpu, selectors: [SELECTOR]}
---
"""
BIG = "{cel: {expression: 'device.attributes[\"gpu.example.com\"].big'}}"


def nodes(*names: str) -> str:
    return CLASS + "".join(SLICE.replace("NODE", name) for name in names)


def claim(name: str, selector: str = "") -> str:
    return CLAIM.replace("NAME", name).replace("SELECTOR", selector)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    code = run(["gang", *arguments, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_copies_say_how_many_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_manifest(tmp_path, nodes("a", "b") + claim("c"))
    code, found = answer(capsys, str(path), "--copies", "5")
    assert code == 1
    assert len(found["joint"]["placements"]) == 4  # type: ignore[index]
    code, found = answer(capsys, str(path), "--copies", "0")
    assert code == 0
    assert found["wanted"] is None
    assert len(found["joint"]["placements"]) == 4  # type: ignore[index]


def test_what_the_order_loses_is_placed_jointly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ortools", reason="needs ortools: joint placements of unlike pods")
    # The first two claims take any device, first fit gives the second the large one.
    path = write_manifest(
        tmp_path, nodes("a", "b") + claim("any-1") + claim("any-2") + claim("big-1", BIG) + claim("big-2", BIG)
    )
    code, found = answer(capsys, str(path))
    assert code == 0
    assert found["lostByOrder"] is True
    assert len(found["joint"]["placements"]) == 4  # type: ignore[index]


def test_shared_claims_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = "".join(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
        "spec: {containers: [{name: c, image: i}], resourceClaims: [{name: x, resourceClaimName: c}]}\n---\n"
        for number in range(2)
    )
    path = write_manifest(tmp_path, nodes("a") + claim("c") + pods)
    assert run(["gang", str(path)]) == 2
    assert "shared with default/p1" in capsys.readouterr().err


def test_text_has_both_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_manifest(tmp_path, nodes("a") + claim("c"))
    assert run(["gang", str(path)]) == 0
    out = capsys.readouterr().out
    assert "placed jointly: 1 of 1 pod on 1 node" in out
    assert "kube-scheduler, pod by pod: 1 of 1 pod" in out


def test_two_pods_that_want_a_whole_gpu_or_half_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Upstream issue 138765: in order the first takes the whole GPU."""
    code, found = answer(
        capsys, str(EXAMPLES / "gang" / "pair.yaml"), "--cluster", str(EXAMPLES / "gang" / "one-gpu.yaml")
    )
    assert code == 0
    assert found["lostByOrder"] is True
    assert found["greedy"]["placements"] == []  # type: ignore[index]
    assert len(found["joint"]["placements"]) == 2  # type: ignore[index]


def test_of_three_replicas_on_two_devices_two_fit(capsys: pytest.CaptureFixture[str]) -> None:
    paths = str(EXAMPLES / "gang" / "replica.yaml"), "--cluster", str(EXAMPLES / "gang" / "two-devices.yaml")
    assert run(["gang", *paths, "--copies", "3"]) == 1
    assert "placed jointly: 2 of 3 pods on 1 node" in capsys.readouterr().out


def test_copies_beyond_the_limit_are_refused_with_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    paths = str(EXAMPLES / "gang" / "replica.yaml"), "--cluster", str(EXAMPLES / "gang" / "two-devices.yaml")
    for number in ("1000000000", "99999999999999999999"):
        assert run(["gang", *paths, "--copies", number]) == 2
        assert "copies are more than the 10,000 that are looked at" in capsys.readouterr().err


NODE = """
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {rack: RACK}}
---
"""


def racks(*names: str) -> str:
    return nodes(*names) + "".join(NODE.replace("NAME", name).replace("RACK", name) for name in names)


def test_nobody_holds_what_other_pods_of_the_gang_would_take(tmp_path, capsys):
    cluster = write_manifest(tmp_path, racks("n1", "n2"), "cluster.yaml")
    manifests = write_manifest(tmp_path, "".join([claim("a", BIG), claim("b", BIG), claim("c", BIG)]))
    _, body = answer(capsys, str(manifests), "--cluster", str(cluster))
    said = str(body["nodesTake"])
    assert said.count("no more, since") == 1
    assert "chosen for that pod" in said
    assert "allocated to" not in said, said


@pytest.mark.parametrize(
    ("claims", "options", "told"),
    [
        (
            [claim("a"), claim("none", "{cel: {expression: 'false'}}")],
            [],
            ('none fits on no node, not even alone; on n1, request "r" needs 1 device, and none matches', "", []),
        ),
        (
            [claim("a", BIG), claim("b", BIG), claim("c", BIG)],
            [],
            (
                'order; the third pod needs 1 device of one node for request "r", and no node has one available',
                "no single change that was tried makes room for all of them",
                ["n1, n2 take 1 each of 3 pods like default/a; no more, since"],
            ),
        ),
        ([claim("a")], ["--topology", "zone"], ("no node has the label zone", "", [])),
        ([claim("a"), claim("b")], ["--topology", "rack", "--prefer"], ("", "", [])),
        (
            [claim("a", BIG), claim("b", BIG)],
            ["--topology", "rack"],
            (
                "each of 2 pods fits alone, but not all of them on nodes of one rack",
                "letting them run on nodes of different rack (then both fit)",
                ["n1, n2 take 1 each of 2 pods like default/a; no more, since"],
            ),
        ),
    ],
)
def test_what_keeps_pods_from_their_places_is_said(tmp_path, capsys, claims, options, told):
    cause, fix, takes = told
    cluster = write_manifest(tmp_path, racks("n1", "n2"), "cluster.yaml")
    manifests = write_manifest(tmp_path, "".join(claims))
    run(["gang", str(manifests), "--cluster", str(cluster), *options, "--format", "json"])
    body = json.loads(capsys.readouterr().out)
    assert cause in body["cause"]
    assert bool(cause) is bool(body["cause"])
    assert body["fix"] == fix
    assert [each.partition(" since")[0] for each in body["nodesTake"]] == [
        each.removesuffix(" since") for each in takes
    ]
    assert body["notes"] == []


@pytest.mark.parametrize(
    ("devices", "wanted", "told"),
    [
        (
            4,
            {"a": 2, "b": 2, "c": 3},
            (
                "only 2 of 3 pods fit together (2 on n1), but in another order only 1: their order matters",
                "no single change that was tried makes room for all of them",
            ),
        ),
        (
            4,
            {"c": 3, "a": 2, "b": 2},
            (
                "only 2 of 3 pods fit together (2 on n1), but one by one, in this order, only 1: their order matters",
                "no single change that was tried makes room for all of them",
            ),
        ),
        (
            5,
            {"a": 2, "c": 3, "b": 2},
            (
                "only 2 of 3 pods fit together (2 on n1), in whatever order",
                (
                    'asking for 1 instead of 2 devices in request "r" of every pod like default/a, '
                    'or asking for 1 instead of 3 devices in request "r" of default/c (then all 3 fit)'
                ),
            ),
        ),
        (
            3,
            {"a": 1, "b": 1, "c": 2},
            (
                "only 2 of 3 pods fit together (2 on n1), in whatever order",
                'asking for 1 instead of 2 devices in request "r" of default/c (then all 3 fit)',
            ),
        ),
    ],
)
def test_it_is_told_whether_the_order_matters(tmp_path, capsys, devices, wanted, told):
    """The order is that of the manifests; what pods of one kind can ask for is told of that kind."""
    names = ", ".join(f"{{name: d{number}}}" for number in range(devices))
    head, _, _ = SLICE.replace("NODE", "n1").partition("  devices:")
    cluster = write_manifest(tmp_path, f"{CLASS}{head}  devices: [{names}]\n", "cluster.yaml")
    asked = [claim(name).replace("selectors: []", f"count: {count}") for name, count in wanted.items()]
    _, body = answer(capsys, str(write_manifest(tmp_path, "".join(asked))), "--cluster", str(cluster))
    assert (body["cause"], body["fix"]) == told


def test_a_topology_that_pods_should_have_and_do_not_is_noted(tmp_path, capsys):
    cluster = write_manifest(tmp_path, racks("n1", "n2"), "cluster.yaml")
    manifests = write_manifest(tmp_path, claim("a", BIG) + claim("b", BIG))
    _, body = answer(capsys, str(manifests), "--cluster", str(cluster), "--topology", "rack", "--prefer")
    assert body["notes"] == ["not all pods could be placed on nodes of one rack"]


def test_where_nobody_knows_no_number_is_told(tmp_path, capsys):
    """Two pods want the only two devices each, and an overseer could have those of one of them."""
    space = {"resource.kubernetes.io/admin-access": "true"}
    label = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: default, labels: {json.dumps(space)}}}\n---\n"
    cluster = write_manifest(tmp_path, label + racks("n1"), "cluster.yaml")
    overseer = claim("c").replace("deviceClassName: gpu", "deviceClassName: gpu, adminAccess: true")
    asked = write_manifest(tmp_path, claim("a", BIG) + claim("b", BIG) + overseer)
    assert run(["gang", str(asked), "--cluster", str(cluster)]) == 3
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("ResourceClaim default/a and 2 more, placed jointly: undecided (")
    assert last.startswith("undecided (Kubernetes ")
