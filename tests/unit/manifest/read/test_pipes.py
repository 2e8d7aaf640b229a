"""
Pipes, sockets and links among the inputs: none of them makes a load wait for ever.
"""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.read import pipes
from dra_alloc.manifest.read.inputs import InputBytes, SkippedInput, UnreadableInput, files_of, sources
from dra_alloc.manifest.snapshot.header import note_inputs

NODE = b"{apiVersion: v1, kind: Node, metadata: {name: node}}\n"


def read(*paths):
    return list(sources([str(path) for path in paths], None, DEFAULT_BUDGET))


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    return path


def test_a_named_pipe_without_a_writer_is_refused(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "PATIENCE_SECONDS", 0.05)
    (failure,) = read(pipe)
    assert isinstance(failure, UnreadableInput)
    assert failure.problem.message == "is a named pipe that nothing writes to"
    assert failure.problem.where.file == str(pipe)


def test_a_named_pipe_with_a_writer_is_read_to_its_end_however_slow(pipe, monkeypatch):
    monkeypatch.setattr(pipes, "PATIENCE_SECONDS", 0.2)

    def write():
        with pipe.open("wb", buffering=0) as file:
            for part in (NODE[:10], NODE[10:]):
                time.sleep(0.4)
                file.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    assert read(pipe) == [InputBytes(str(pipe), NODE)]
    writer.join()


def test_an_open_pipe_by_number_is_read_to_its_end(monkeypatch):
    reader, writer = os.pipe()
    try:
        os.write(writer, NODE)
        os.close(writer)
        assert read(f"/dev/fd/{reader}") == [InputBytes(f"/dev/fd/{reader}", NODE)]
    finally:
        os.close(reader)


def test_a_socket_is_refused(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
        (failure,) = read(path)
    assert isinstance(failure, UnreadableInput)
    assert failure.problem.message == "is a socket, which cannot be read"


def test_a_folder_is_read_without_what_is_no_file_in_it(tmp_path, pipe):
    (tmp_path / "a.yaml").write_bytes(NODE)
    (tmp_path / "b.yaml").symlink_to("nothing")
    (tmp_path / "c.yaml").symlink_to("a.yaml")
    documents = load(tmp_path)
    assert len(documents.nodes) == 1
    told = {(each.where.file, each.message) for each in documents.warnings}
    assert {(str(tmp_path / name), "passed over: it is no regular file") for name in ("b.yaml", "pipe.yaml")} <= told
    assert files_of([tmp_path]) == [str(tmp_path / "a.yaml"), str(tmp_path / "c.yaml")]


def test_a_folder_of_nothing_else_has_a_warning(tmp_path, pipe):
    (found,) = read(tmp_path)
    assert isinstance(found, SkippedInput)


def test_a_link_to_nothing_is_refused_where_it_is_named(tmp_path):
    (tmp_path / "b.yaml").symlink_to("nothing")
    with pytest.raises(ManifestError, match="No such file"):
        load(tmp_path / "b.yaml")


def test_a_snapshot_notes_no_pipe(tmp_path, pipe):
    assert note_inputs([str(pipe)], str(tmp_path / "snapshot")) == []
