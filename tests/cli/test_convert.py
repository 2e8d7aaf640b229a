"""
The command `convert`: files in, files out, and nothing else touched.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dra_alloc.cli.main import run
from dra_alloc.scenario import converting
from tests.paths import EXAMPLES

OLDER = (EXAMPLES / "older.yaml").read_text(encoding="utf-8")
NEWER = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\n"
RULE = "apiVersion: resource.k8s.io/{}\nkind: DeviceTaintRule\nmetadata: {{name: r}}\n"


@pytest.fixture
def older(tmp_path):
    path = tmp_path / "older.yaml"
    path.write_text(OLDER, encoding="utf-8")
    return path


def test_to_standard_output(older, tmp_path, capsys):
    (tmp_path / "b.yaml").write_text(NEWER.replace("v1\n", "v1beta2\n"), encoding="utf-8")
    (tmp_path / "values.yaml").write_text("a: [1\n", encoding="utf-8")
    assert run(["convert", str(older), str(tmp_path), "--to", "v1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("resource.k8s.io/v1\n") == 5
    assert f"\n---\n{NEWER}" in printed
    assert "v1beta" not in printed.replace("# Written for Kubernetes 1.32, where v1beta1", "")
    assert older.read_text(encoding="utf-8") == OLDER


def test_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OLDER.encode())))
    assert run(["convert", "-", "--to", "resource.k8s.io/v1beta2"]) == 0
    assert "          # Any H100, as long as it is a whole one.\n" in capsys.readouterr().out


def test_in_place_keeps_mode_link_and_mark(older, tmp_path, capsys):
    older.write_bytes(b"\xef\xbb\xbf" + OLDER.encode())
    older.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(older)
    assert run(["convert", str(link), "--to", "v1", "--in-place"]) == 0
    assert capsys.readouterr().out == f"{link}: 2 objects converted\n"
    assert link.is_symlink()
    assert older.stat().st_mode & 0o777 == 0o640
    once = older.read_bytes()
    assert once.startswith(b"\xef\xbb\xbf# Written for")
    assert run(["convert", str(older), "--to", "v1", "--in-place"]) == 0
    assert capsys.readouterr().out == "nothing to convert\n"
    assert run(["convert", str(older), "--to", "v1beta1", "--in-place"]) == 0
    assert older.read_bytes() == b"\xef\xbb\xbf" + OLDER.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.yaml", "older.yaml"]


def test_a_list_of_one_claim_is_one_object(tmp_path, capsys):
    path = tmp_path / "list.yaml"
    head = "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimList\nitems:"
    path.write_text(f"{head}\n- metadata: {{name: c}}\n  spec: {{devices: {{}}}}\n", encoding="utf-8")
    for text in (path.read_text(encoding="utf-8"), f"{head} []\n"):
        path.write_text(text, encoding="utf-8")
        assert run(["convert", str(path), "--to", "v1", "--check"]) == 1
        assert "1 object in 1 file would change" in capsys.readouterr().out
        assert run(["convert", str(path), "--to", "v1", "--in-place"]) == 0
        assert capsys.readouterr().out == f"{path}: 1 object converted\n"
        assert path.read_text(encoding="utf-8") == text.replace("v1beta1", "v1")


def test_where_nothing_was_read_something_is_wrong(tmp_path, capsys):
    path = tmp_path / "t.yaml"
    template = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: {{ .name }}}\n"
    for text, code in ((template, 2), ("# nothing\n---\n", 2), ("kind: Pod\napiVersion: v1\n", 0)):
        path.write_text(text, encoding="utf-8")
        for given in (path, tmp_path):
            assert run(["convert", str(given), "--to", "v1", "--check"]) == code
            said = capsys.readouterr()
            assert ("there is no object in the manifests" in said.err) == (code == 2)
            assert (said.out == "nothing would change\n") == (code == 0)


def test_a_kind_that_is_missing(tmp_path, capsys):
    path = tmp_path / "nameless.yaml"
    path.write_text("apiVersion: resource.k8s.io/v1beta1\nmetadata: {name: c}\n", encoding="utf-8")
    for to in ("v1", "v1beta1"):
        assert run(["convert", str(path), "--to", to, "--check"]) == 2
        assert f"{path}:1: object c: kind: kind is missing or no string" in capsys.readouterr().err


def test_why_a_file_is_not_rewritten(older, tmp_path, capsys):
    others = {"p.yaml.gz": gzip.compress(OLDER.encode()), "u.yaml": OLDER.encode("utf-16")}
    for (name, data), why in zip(others.items(), ("it is packed", "it is not UTF-8"), strict=True):
        (tmp_path / name).write_bytes(data)
        assert run(["convert", str(tmp_path), "--to", "v1", "--in-place"]) == 2
        assert f"{name}: cannot be rewritten: {why}; nothing was written" in capsys.readouterr().err
        (tmp_path / name).unlink()
    assert older.read_text(encoding="utf-8") == OLDER


def test_after_a_problem_nothing_is_written(older, tmp_path, capsys):
    (tmp_path / "rule.yaml").write_text(RULE.format("v1"), encoding="utf-8")
    (tmp_path / "slice.yaml").write_text(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nspec:\n  nodeName: ''\n", encoding="utf-8"
    )
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for way in ([], ["--in-place"], ["--diff"], ["--check"]):
        assert run(["convert", str(tmp_path), "--to", "v1beta1", *way]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f"{tmp_path}/rule.yaml:1: DeviceTaintRule r: apiVersion: no matches for kind" in said.err
        assert "nothing was converted" in said.err
        assert f"{tmp_path}/slice.yaml:4: ResourceSlice: spec.nodeName: resource.k8s.io/v1beta1 cannot say" in said.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_changed_is_left_alone(older, monkeypatch, capsys):
    def late(*asked):
        found = convert(*asked)
        older.write_text("changed: meanwhile\n", encoding="utf-8")
        return found

    convert = converting.convert_files
    monkeypatch.setattr(converting, "convert_files", late)
    assert run(["convert", str(older), "--to", "v1", "--in-place"]) == 2
    assert (
        f"{older}: cannot be rewritten: it has changed since it was read; nothing was written"
        in capsys.readouterr().err
    )
    assert older.read_text(encoding="utf-8") == "changed: meanwhile\n"


def test_a_diff(older, capsys):
    assert run(["convert", str(older), "--to", "v1", "--diff"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"--- {older}", f"+++ {older}"]
    assert "+          count: 4  # of the eight of a node" in lines


def test_check(older, tmp_path, capsys):
    assert run(["convert", str(tmp_path), "--to", "v1", "--check", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["changes"]
    assert [(each["object"], Path(each["file"]).name, each["line"]) for each in found] == [
        ("ResourceClaimTemplate research/training", "older.yaml", 2),
        ("ResourceSlice h100-c-gpu.nvidia.com", "older.yaml", 22),
    ]
    assert run(["convert", str(older), "--to", "v1beta1", "--check"]) == 0
    assert capsys.readouterr().out == "nothing would change\n"
    assert older.read_text(encoding="utf-8") == OLDER


@pytest.mark.parametrize(
    ("written", "release", "instead"),
    [
        ("v1alpha3", "1.38", None),
        ("v1alpha3", "1.42", None),
        ("v1beta2", "1.41.3", None),
        ("v1beta2", "1.42", "v1"),
        ("v1beta2", "1.35", "v1alpha3"),
        ("v1", "1.36", "v1beta2"),
        ("v1", "v1.37.0", None),
    ],
)
def test_what_a_release_does_not_serve(written, release, instead, tmp_path, capsys):
    path = tmp_path / "rule.yaml"
    path.write_text(RULE.format(written), encoding="utf-8")
    assert run(["convert", str(path), "--target-release", release, "--check"]) == (instead is not None)
    said = " ".join(capsys.readouterr().out.split())
    assert (f"does not serve resource.k8s.io/{written} of this kind: write resource.k8s.io/{instead} " in said) == (
        instead is not None
    )
    assert ("is off in Kubernetes" in said) == (instead is None and written != "v1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "v3"], "no version 'v3' of resource.k8s.io"),
        (["--target-release", "new"], "unknown release 'new'"),
        (["--target-release", "1.32"], "Kubernetes 1.32 has no DeviceTaintRule"),
        (["--to", "v1", "--format", "json"], "--format and --report tell what --check finds"),
        ([], "one of the arguments --to --target-release is required"),
    ],
)
def test_bad_usage(arguments, said, tmp_path, capsys):
    path = tmp_path / "rule.yaml"
    path.write_text(RULE.format("v1"), encoding="utf-8")
    assert run(["convert", str(path), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_standard_input_has_no_place(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OLDER.encode())))
    assert run(["convert", "-", "--to", "v1", "--in-place"]) == 2
    assert "--in-place rewrites files, and standard input is none" in capsys.readouterr().err


def test_a_file_that_is_named_twice_is_written_once(older, tmp_path, capsys):
    assert run(["convert", str(older), str(tmp_path), "--to", "v1", "--in-place"]) == 0
    assert capsys.readouterr().out.count("converted") == 1


def test_directives_come_after_the_end_of_a_document(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(NEWER, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(f"# of ours\n\n%YAML 1.1\n---\n{NEWER}", encoding="utf-8")
    assert run(["convert", str(tmp_path), "--to", "v1beta1"]) == 0
    printed = capsys.readouterr().out
    assert [each["apiVersion"] for each in yaml.safe_load_all(printed)] == ["resource.k8s.io/v1beta1"] * 2


def test_lines_of_a_diff_end_in_line_feeds_alone(tmp_path, capsys):
    path = tmp_path / "a.yaml"
    text = NEWER.replace("name: a", 'name: "a\u2028  b\x85  c"').replace("\n", "\r\n")
    path.write_bytes(text.encode())
    assert run(["convert", str(path), "--to", "v1beta1", "--diff"]) == 0
    (tmp_path / "diff").write_text(capsys.readouterr().out, encoding="utf-8", newline="")
    subprocess.run(["patch", "--binary", str(path), str(tmp_path / "diff")], check=True, capture_output=True)
    assert path.read_bytes() == text.replace("/v1", "/v1beta1").encode()
