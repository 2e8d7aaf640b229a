"""
`dra-alloc capacity`: what is told of bad input.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cli.main import run
from tests.paths import ROOT

CLUSTER = str(ROOT / "docs" / "examples" / "what-if" / "cluster.yaml")


def test_all_nodes_and_shapes_that_are_not_there_are_told_at_once(capsys):
    lost = ("--like", "gpu-q", "--like", "gpu-a", "--shape", "h100", "--shape", "none", "--shape", "none")
    assert run(["capacity", "-c", CLUSTER, *lost]) == 2
    said = capsys.readouterr().err
    assert said.count("there is no") == 3
    assert "--like: there is no node gpu-q (did you mean gpu-" in said
    assert "--shape: there is no shape h100" in said


@pytest.fixture
def asked(tmp_path, capsys):
    more = str(ROOT / "docs" / "examples" / "capacity" / "more.yaml")

    def told(nodes, *arguments):
        prices = tmp_path / "prices.yaml"
        prices.write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
        code = run(["capacity", more, "-c", CLUSTER, "--prices", str(prices), *arguments])
        return code, *(" ".join(each.split()) for each in capsys.readouterr())

    return told


def test_what_has_no_price_is_not_bought(asked):
    r1, r2 = ({"price": price, "labels": {"rack": rack}} for price, rack in ((900, "r1"), (0, "r2")))
    code, out, _ = asked([r1])
    assert (code, "to add: 3 like gpu-a for 2700" in out) == (1, True)
    assert "no price is for nodes like gpu-c: none of them are added" in out
    _, out, _ = asked([r1, r2])  # a price of nothing is one
    assert "to add: 3 like gpu-c for 0" in out
    assert "no price" not in out


@pytest.mark.parametrize(
    ("nodes", "arguments", "lacking"),
    [
        ([{"price": 1, "name": "other"}], (), "gpu-a, gpu-c"),
        ([{"price": 1, "name": "gpu-a"}], ("--like", "gpu-a", "--like", "gpu-c"), "gpu-c"),
        ([{"price": 1, "name": "gpu-a"}], ("--shape", "h100-8"), "h100-8"),
    ],
)
def test_no_price_for_what_is_asked_for_is_bad_input(nodes, arguments, lacking, asked):
    code, out, err = asked(nodes, *arguments)
    assert (code, out) == (2, "")
    assert f"prices.yaml: no price is for nodes like {lacking} (" in err


def test_one_workload_fits(tmp_path, capsys):
    cluster, manifest = tmp_path / "cluster.yaml", tmp_path / "pod.yaml"
    cluster.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    manifest.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n")
    assert run(["capacity", str(manifest), "-c", str(cluster)]) == 0
    assert "1 of 1 workload fits now, 0 with more nodes" in capsys.readouterr().out
