"""
Options that stand in dra-alloc.toml or pyproject.toml.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cli.main import run
from dra_alloc.linting.pages import page_of
from tests.manifests import write_manifest

PAGE = page_of("E211")
assert PAGE is not None
CLUSTER, BAD = PAGE.cluster, PAGE.bad


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with manifests, below one with a cluster; it is worked in."""
    inner = tmp_path / "team" / "app"
    inner.mkdir(parents=True)
    write_manifest(tmp_path, CLUSTER, "cluster.yaml")
    write_manifest(inner, BAD, "claim.yaml")
    monkeypatch.chdir(inner)
    return inner


def codes(capsys, *arguments: str) -> list[str]:
    """The codes that lint finds."""
    assert run(["lint", "claim.yaml", "--format", "json", *arguments]) in (0, 1)
    return [each["code"] for each in json.loads(capsys.readouterr().out)["findings"]]


def test_options_stand_in_a_file(folder, tmp_path, capsys):
    assert codes(capsys) == []
    write_manifest(
        tmp_path,
        'cluster = "cluster.yaml"\nrelease = "1.37"\n[gates]\nDRAConsumableCapacity = true\n',
        "dra-alloc.toml",
    )
    assert codes(capsys) == ["E211"]
    assert run(["lint", "claim.yaml"]) == 1
    told = capsys.readouterr()
    assert told.err == f"note: options of {tmp_path / 'dra-alloc.toml'}\n"
    assert told.out.splitlines()[-1].endswith("(Kubernetes 1.37)")


def test_the_nearest_file_wins_and_the_command_line_over_it(folder, tmp_path, capsys):
    write_manifest(tmp_path, 'cluster = ["cluster.yaml"]\n', "dra-alloc.toml")
    write_manifest(folder.parent, '[tool.dra-alloc]\ncluster = "../cluster.yaml"\nignore = "E2"\n', "pyproject.toml")
    assert codes(capsys) == []
    assert codes(capsys, "--ignore", "S") == ["E211"]
    write_manifest(folder.parent, 'release = "1.38"\n', "dra-alloc.toml")
    assert codes(capsys) == []
    empty = write_manifest(folder, CLUSTER.replace("gpu.example.com", "gpu.exmaple.com"), "other.yaml")
    write_manifest(folder.parent, 'cluster = "../cluster.yaml"\n', "dra-alloc.toml")
    assert codes(capsys) == ["E211"]
    assert "E211" not in codes(capsys, "--cluster", str(empty))


def test_other_commands_have_them_too(folder, tmp_path, capsys):
    write_manifest(tmp_path, 'cluster = "cluster.yaml"\nrelease = "1.38"\nselect = ["E"]\n', "dra-alloc.toml")
    assert run(["validate", "claim.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("(Kubernetes 1.38)")
    assert run(["validate", "claim.yaml", "--release", "1.36"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("(Kubernetes 1.36)")
    assert run(["check", "claim.yaml"]) == 2
    assert "there is no DeviceClass 'gpu.exmaple.com'" in capsys.readouterr().err
    assert run(["rule", "E203"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('release = "1.36"\nreleas = "1.37"\n', 2, "unknown key 'releas'"),
        ("# cluster = 3\n\ncluster = 3\n", 3, "cluster has to be a text or a list of texts"),
        ('gates = {DRAAdminAccess = "yes"}\n', 1, "gates has to be a table of true and false"),
        ("[gates]\nDRAAdminAccess = 1\n", 1, "gates has to be a table of true and false"),
        ('[codes]\nselect = "S"\n', 1, "unknown key 'codes'"),
        ('release = "1.36"\nselect = [\n', 2, "is no TOML"),
        ("release = 1.36\n", 1, 'release has to be a text (as in release = "1.36")'),
        ('[tool.dra-alloc]\nrelease = "1.36"\n', 1, "unknown key 'tool' (keys stand at the top of dra-alloc.toml"),
        ('release = "1.99"\n', 1, "unknown release '1.99'"),
        ("[gates]\n\nNone = true\n", 3, "release 1.36.6 has no feature gate 'None'"),
        ('select = [\n  "S",\n  "X9",\n]\n', 3, "no code begins with 'X9'"),
    ],
)
def test_what_is_wrong_with_a_file_has_its_line(folder, text, line, said, capsys):
    file = write_manifest(folder, text, "dra-alloc.toml")
    assert run(["lint", "claim.yaml"]) == 2
    assert f"{file}:{line}:{said.replace(' ', '')}" in "".join(capsys.readouterr().err.split())
    file.unlink()
    shared = write_manifest(folder, '[tool.other]\nreleas = 1\n\n[tool.dra-alloc]\nreleas = "1.37"\n', "pyproject.toml")
    assert run(["lint", "claim.yaml"]) == 2
    assert f"{shared}:5:unknownkey'releas'" in "".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("asked", [["--release", "1.99"], ["--select", "X9"], ["--gate", "None=true"]])
def test_the_file_is_not_blamed_for_the_command_line(folder, asked, capsys):
    text = '# "1.99" None\nrelease = "1.36"\nselect = ["S"]\nignore = ["W808"]\n[gates]\nNone = true\n'
    text = text if asked[0] == "--gate" else text.partition("[gates]")[0] + 'namespace = "1.99"\ncluster = "X9"\n'
    file = write_manifest(folder, text, "dra-alloc.toml")
    assert run(["lint", "claim.yaml", *asked]) == 2
    assert f"{file}:" not in capsys.readouterr().err


def test_all_that_is_wrong_with_a_file_is_told_at_once(folder, capsys):
    write_manifest(folder, "releas = 1\nselect = []\n\n[gates]\nA = 1\n", "dra-alloc.toml")
    assert run(["lint", "claim.yaml"]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if "dra-alloc.toml:" in line]
    assert [line.partition("dra-alloc.toml:")[2][0] for line in told] == ["1", "2", "4"]


def test_a_project_without_options_is_passed_over(folder, capsys):
    write_manifest(folder, "[tool.other]\nname = 'dra-alloc'\n", "pyproject.toml")
    assert codes(capsys) == []


@pytest.mark.parametrize("text", ["[ tool . dra-alloc ]", '[tool."dra-alloc"]', "tool.dra-alloc.namespace = 'a'\n"])
def test_a_table_is_one_however_it_is_written(folder, text, capsys):
    write_manifest(folder, f"{text}\n" if "=" in text else f"{text}\nnamespace = 'a'\n", "pyproject.toml")
    assert run(["lint", "claim.yaml"]) == 0
    assert "options of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("dra-alloc.toml", "a = " + "[" * 20_000, "nested too deeply"),
        ("dra-alloc.toml", "a = " + "9" * 5_000, "is no TOML"),
        ("pyproject.toml", "tool.dra-alloc = 1", "tool.dra-alloc has to be a table"),
    ],
)
def test_what_is_no_table_is_bad_input(folder, name, text, said, capsys):
    write_manifest(folder, text, name)
    assert run(["lint", "claim.yaml"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["tool = 1 # dra-alloc", 'a = """\n[tool.dra-alloc]\n"""'])
def test_what_only_mentions_us_is_passed_over(folder, text, capsys):
    write_manifest(folder, text, "pyproject.toml")
    assert codes(capsys) == []
