"""
Files, folders, stdin, gzip and encodings.
"""

from __future__ import annotations

import gzip
import io
from typing import Any

import pytest

from dra_alloc.manifest.budget import ReadBudget
from dra_alloc.manifest.read.inputs import InputBytes, UnreadableInput, sources


def from_stdin(data, **limits):
    (source,) = sources(["-"], io.BytesIO(data), ReadBudget(**limits))
    if isinstance(source, InputBytes):
        return source
    assert isinstance(source, UnreadableInput)
    return str(source.problem)


@pytest.mark.parametrize(
    "data",
    [
        b"a: \xc3\xa9",
        b"\xef\xbb\xbfa: \xc3\xa9",
        "a: é".encode("utf-16"),
        b"\xfe\xff" + "a: é".encode("utf-16-be"),
        "a: é".encode("utf-32"),
        gzip.compress(b"a: \xc3\xa9"),
        gzip.compress(b"a:") + gzip.compress(b" \xc3\xa9") + b"\0\0",
        gzip.compress("a: é".encode("utf-16")),
    ],
)
def test_all_are_one_text(data):
    assert from_stdin(data) == InputBytes("<stdin>", b"a: \xc3\xa9")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(b"abc" * 1000)[:-10], "gzip data ends too early: the file is truncated"),
        (b"\x1f\x8babcdefgh", "gzip data is damaged"),
        (gzip.compress(b"\0" * 10**7), "unpacks to more than 1000000 bytes"),
        (b"a" * 1_000_001, "holds more than 1000000 bytes, the limit for one file"),
        (b"\xff\xfe\x00", "its byte order mark says utf-16-le, its text is not"),
    ],
)
def test_what_gives_no_text(data, message):
    assert message in from_stdin(data, file_bytes=1_000_000)


def test_a_pipe_may_give_little_at_a_time():
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.left = list(b"abcdef")

        def readable(self):
            return True

        def read(self, size=-1):
            return bytes([self.left.pop(0)]) if self.left else b""

    pipe: Any = Pipe()
    source: Any = next(sources(["-"], pipe, ReadBudget()))
    assert source.data == b"abcdef"


def test_folders(tmp_path):
    for name in ("b.yaml", "a/c.yml.gz", "a/d.json", "e.txt", ".hidden.yaml", "f"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(b"x") if name.endswith(".gz") else name.encode())
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    found: list[Any] = list(sources([tmp_path, tmp_path / "f"], None, ReadBudget()))
    names = [source.name.removeprefix(f"{tmp_path}/") for source in found]
    assert names == ["a/c.yml.gz", "a/d.json", "b.yaml", "f"]
    assert found[0].data == b"x"


def test_failures_take_their_place(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.yaml").write_text("a: 1")
    found = list(sources([tmp_path / "no.yaml", tmp_path / "empty", tmp_path / "x.yaml"], None, ReadBudget()))
    assert [isinstance(source, UnreadableInput) for source in found] == [True, True, False]
    assert "No such file" in str(found[0])
    assert "no *.yaml, *.yml or *.json file in this folder" in str(found[1])


def test_the_number_of_files_is_bounded(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.yaml").write_text("")
    found = list(sources([tmp_path], None, ReadBudget(files=3)))
    assert len(found) == 4
    assert "more than 3 files" in str(found[-1])
