"""
`dra-alloc capacity`: what is told of bad input.
"""

from __future__ import annotations

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
