"""
A folder stands for its manifests: what else lies in it is left alone, and what cannot be read is told.
"""

from __future__ import annotations

import os

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
FOREIGN = {
    "values.yaml": "replicas: 3\nimage: {name: x}\n",
    "Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
    "kustomization.yaml": "resources:\n- pod.yaml\n",
    "package.json": '{"name": "x", "version": "1"}',
    "numbers.json": "[1, 2, 3]",
    "text.yaml": "just words\n",
    "two.yaml": "a: 1\n---\nb: 2\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def problems(path):
    with pytest.raises(ManifestError) as caught:
        load(path)
    return [each.message for each in caught.value.problems]


def test_hidden_folders_and_files_are_left_alone(folder):
    for name in (".git/x.yaml", ".cache/y/z.json", "sub/.venv/a.yaml", ".hidden.yaml"):
        put(folder / name, "a: [")
    documents = load(folder)
    assert len(documents.pods) == 1
    assert not documents.warnings


def test_a_hidden_folder_that_is_named_is_read(folder):
    put(folder / ".mine" / "x.yaml", POD)
    assert len(load(folder / ".mine").pods) == 1


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_programs_are_passed_over_with_a_warning(folder, name):
    put(folder / "sub" / name, FOREIGN[name])
    documents = load(folder)
    assert len(documents.pods) == 1
    (warning,) = documents.warnings
    assert warning.message == f"passed over, having neither kind nor metadata nor spec: {folder / 'sub' / name}"


def test_many_files_of_other_programs_are_one_warning(folder):
    for number in range(9):
        put(folder / f"{number}.yaml", "a: 1\n")
    (warning,) = load(folder).warnings
    assert warning.message.endswith("4.yaml and 4 more")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_named_has_to_hold_manifests(folder, name):
    put(folder / name, FOREIGN[name])
    assert problems(folder / name)


@pytest.mark.parametrize(
    "text",
    [
        "metadata: {name: x}\n",
        "spec: {}\n",
        "kind: Pod2\n",
        POD + "---\na: 1\n",
        "a: 1\n---\n" + POD,
        '[{"apiVersion": "v1", "kind": "Pod"}]',
        "a: [",
        "a: 1\nb: {{ .Values.b }}\n",
    ],
)
def test_what_may_be_meant_as_a_manifest_is_a_problem(folder, text):
    put(folder / "wrong.yaml", text)
    assert problems(folder)


def test_a_sub_folder_that_cannot_be_looked_into_is_a_problem(folder, monkeypatch):
    (folder / "closed").mkdir()
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert problems(folder) == ["cannot be looked into: Permission denied"]


def test_links_go_in_no_circles(folder):
    (folder / "loop").symlink_to(".")
    (folder / "self.yaml").symlink_to("self.yaml")
    documents = load(folder)
    assert len(documents.pods) == 1
    assert [each.message for each in documents.warnings] == ["passed over: it is no regular file"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "the name of an input is empty"), ("a" * 300, "cannot be read: File name too long"), ("a\0b", "null")],
)
def test_names_that_can_be_no_file(name, said):
    (message,) = problems([name])
    assert said in message


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"kind: Pod\nmetadata:\n\tname: x\n", "indent with spaces: YAML takes no tabs"),
        ((POD).encode("utf-16-le"), "save it as UTF-8"),
        ('kind: "\xfc"\n'.encode("latin-1"), "save the file as UTF-8"),
        (b'{"kind": "\xfc"}', "save the file as UTF-8"),
        (b"kind: Pod\nspec: [\n", ""),
    ],
)
def test_text_that_cannot_be_read_has_a_hint(folder, data, hint):
    file = folder / "x.yaml"
    file.write_bytes(data)
    with pytest.raises(ManifestError) as caught:
        load(file)
    found = caught.value.problems[0].hint
    assert hint in found
    assert bool(hint) is bool(found)
