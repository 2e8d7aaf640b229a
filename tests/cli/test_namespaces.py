"""
New objects in namespaces that the API server does not have, or is about to delete.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.asked import CLUSTER, Asked, claim

GOING = 'deletionTimestamp: "2026-01-01T00:00:00Z"'


def namespace(name: str, more: str = "") -> str:
    return f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, {more}}}\n"


@pytest.mark.parametrize(
    ("name", "manifests", "words"),
    [
        ("team", "", ""),
        ("default", "", ""),
        ("new", namespace("new"), ""),
        ("taem", "", 'metadata.namespace: namespaces "taem" not found (did you mean team?)'),
        ("old", "", "Forbidden: unable to create new content in namespace old because it is being terminated"),
    ],
)
def test_what_is_new_has_a_namespace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, manifests: str, words: str
) -> None:
    dump = CLUSTER + namespace("team") + namespace("old", GOING)
    asked = Asked(tmp_path, capsys, manifests + claim("c", f", namespace: {name}"), dump)
    assert words in asked.text(exits=2 if words else 0)


def test_what_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = claim("c", ", namespace: old")
    Asked(tmp_path, capsys, stored, CLUSTER + namespace("old", GOING) + stored).report(exits=0)


def test_a_dump_without_namespaces_knows_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Asked(tmp_path, capsys, claim("c", ", namespace: any"), CLUSTER).report(exits=0)
