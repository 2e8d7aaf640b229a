"""
Files, folders, pipes and stdin as named bytes: unpacked, decoded to UTF-8, bounded.
"""

from __future__ import annotations

import io
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from dra_alloc.errors import Problem, Where
from dra_alloc.manifest.budget import DEFAULT_BUDGET, ReadBudget, TooMuchUnpacked, Unpacking
from dra_alloc.manifest.read.pipes import NoWriter, open_input

#: The path that stands for standard input, and the name it is reported under.
STDIN: Final = "-"
_STDIN_NAME: Final = "<stdin>"
#: What manifests in folders are called.
ENDINGS: Final = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
GZIP: Final = b"\x1f\x8b"
_CHUNK: Final = 1 << 20
_FIRST: Final = 256
_PADDING: Final = re.compile(rb"\0*")
_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)

_IF_SNAPSHOT: Final = "if it was a snapshot, make it again: dra-alloc snapshot pack"

_Input = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class InputBytes:
    """
    One input: the name it is reported under and its bytes, UTF-8 without a byte order mark.

    `found` says that nobody named it: it was in a folder. `unpacking` counts
    what becomes of it and of those read with it.
    """

    name: str
    data: bytes
    found: bool = False
    unpacking: Unpacking = field(default_factory=lambda: Unpacking(DEFAULT_BUDGET), compare=False)


class UnreadableInput(Exception):
    """An input that gives no bytes; `problem` says which and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """What is called like a manifest and has none: no file, in a folder, or an empty one; `warning` says so."""

    warning: Problem


def sources(
    paths: Iterable[_Input], stdin: BinaryIO | None, budget: ReadBudget
) -> Iterator[InputBytes | SkippedInput | UnreadableInput]:
    """
    Yield the bytes behind each path, one at a time; a failure takes its place in the order.

    A folder stands for its manifests (``*.yaml``, ``*.yml``, ``*.json``, also
    ``.gz``), its sub-folders' too, sorted; links to folders are not followed,
    files and sub-folders whose names begin with a dot are left alone, and
    pipes, sockets, devices and links to nothing are passed over. A file named
    outright may be called anything, and be a pipe.
    """
    count, unpacking = 0, Unpacking(budget)
    for path in paths:
        for name in _names(os.fspath(path)):
            count += 1
            if isinstance(name, UnreadableInput):
                yield name
                continue
            try:
                if name != os.fspath(path) and not Path(name).is_file():
                    yield SkippedInput(Problem("passed over: it is no regular file", Where(file=name)))
                    continue
                if count > budget.files:
                    raise _unreadable(f"more than {budget.files} files", name)
                yield replace(_read(name, stdin, unpacking), found=name != os.fspath(path))
            except UnreadableInput as failure:
                yield failure
                if count > budget.files:
                    return


def without_empty(
    found: Iterable[InputBytes | SkippedInput | UnreadableInput],
) -> Iterator[InputBytes | SkippedInput | UnreadableInput]:
    """
    Yield inputs; an empty file that was named is passed over, or unreadable if it is not called like a manifest.

    A snapshot that was cut to nothing is no empty cluster.
    """
    for each in found:
        if not isinstance(each, InputBytes) or each.data or each.found or not Path(each.name).is_file():
            yield each
        elif each.name.endswith(ENDINGS):
            yield SkippedInput(Problem("is empty: it has no object", Where(file=each.name)))
        else:
            said = "is empty: it is neither a manifest nor a snapshot"
            yield UnreadableInput(Problem(said, Where(file=each.name), _IF_SNAPSHOT))


def files_of(paths: Iterable[_Input]) -> list[str]:
    """Return the files that paths stand for, as `sources` reads them, in folders without what it passes over."""
    return [
        name
        for path in paths
        for name in _names(os.fspath(path))
        if isinstance(name, str) and (name == os.fspath(path) or Path(name).is_file())
    ]


def folders_of(path: str) -> list[str]:
    """Return the folder of that path and its sub-folders, as far as they are looked into; none for a file."""
    return [each for each, _, _ in _walk(path, [])] if _is_folder(path) else []


def _names(path: str) -> Iterator[str | UnreadableInput]:
    """Yield the files a path stands for, and sub-folders that cannot be looked into; a bare folder yields itself."""
    if path == STDIN or not _is_folder(path):
        yield path
        return
    failed: list[OSError] = []
    found: list[str] = []
    for folder, _, names in _walk(path, failed):
        found += (str(Path(folder, name)) for name in names if name.endswith(ENDINGS) and not name.startswith("."))
    for error in failed:
        yield _unreadable(f"cannot be looked into: {error.strerror or error}", str(error.filename))
    yield from sorted(found) or ([] if failed else [path])


def _walk(path: str, failed: list[OSError]) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, below, names in os.walk(path, onerror=failed.append):
        below[:] = [name for name in below if not name.startswith(".")]
        yield folder, below, names


def _is_folder(path: str) -> bool:
    try:
        return bool(path) and Path(path).is_dir()
    except OSError:
        return False  # reading it says why


def _read(name: str, stdin: BinaryIO | None, unpacking: Unpacking) -> InputBytes:
    """Return the bytes of one file. Raises: UnreadableInput."""
    shown = _STDIN_NAME if name == STDIN else name
    try:
        if name == STDIN:
            if stdin is None and sys.stdin is None:
                raise _unreadable("standard input is closed", shown)
            data = _drain(stdin or sys.stdin.buffer, shown, unpacking)
        elif not name:
            raise _unreadable("the name of an input is empty", "''")
        elif _is_folder(name):
            raise _unreadable("no *.yaml, *.yml or *.json file in this folder", shown)
        else:
            with open_input(name) as file:
                data = _drain(file, shown, unpacking)
    except NoWriter as error:
        raise UnreadableInput(Problem(str(error), Where(file=shown), error.hint)) from None
    except (OSError, ValueError) as error:
        raise _unreadable(f"cannot be read: {getattr(error, 'strerror', None) or error}", shown) from None
    return InputBytes(shown, _utf8(data, shown), unpacking=unpacking)


def _drain(file: BinaryIO, name: str, unpacking: Unpacking) -> bytes:
    """Return everything a file holds, unpacked if it is gzip. Raises: UnreadableInput, OSError."""
    data = _bounded(file, name, unpacking.budget)
    if data.startswith(GZIP):
        return _unzip(data, name, unpacking)
    unpacking.packed += len(data)
    return data


def _bounded(file: BinaryIO, name: str, budget: ReadBudget) -> bytes:
    # Room is made for what is asked for, there or not; and a pipe may give less than that.
    pieces, size = [], 0
    while size <= budget.file_bytes and (more := file.read(min(max(_CHUNK, size), budget.file_bytes + 1 - size))):
        pieces.append(more)
        size += len(more)
    data = b"".join(pieces)
    if len(data) > budget.file_bytes:
        raise _unreadable(f"holds more than {budget.file_bytes} bytes, the limit for one file", name)
    return data


def _unzip(data: bytes, name: str, unpacking: Unpacking) -> bytes:
    """Return the content of a gzip file with one or more members, never more than the budget."""
    out, at = io.BytesIO(), 0
    try:
        while at < len(data):
            at = _unzip_member(data, at, out, unpacking)
    except EOFError:
        raise _unreadable("gzip data ends too early: the file is truncated", name) from None
    except zlib.error:
        raise _unreadable("gzip data is damaged", name) from None
    except TooMuchUnpacked as error:
        hint = "if it is meant so, unpack it with gunzip first"
        raise UnreadableInput(Problem(f"gzip data {error}", Where(file=name), hint)) from None
    return out.getvalue()


def _unzip_member(data: bytes, at: int, out: io.BytesIO, unpacking: Unpacking) -> int:
    """
    Unpack the member that begins there, and return where the next one does.

    What is handed over grows from next to nothing: of what is behind the
    member's end a copy is made, and there can be a million members.
    """
    stream, size = zlib.decompressobj(wbits=31), _FIRST
    while not stream.eof:
        piece = data[at : at + size]
        if not piece:
            raise EOFError
        unpacked = stream.decompress(piece, _CHUNK)
        used = len(piece) - len(stream.unconsumed_tail) - len(stream.unused_data)
        unpacking.take(used, len(unpacked))
        out.write(unpacked)
        at, size = at + used, min(2 * size, _CHUNK)
    padding = _PADDING.match(data, at)
    return padding.end() if padding else at


def _utf8(data: bytes, name: str) -> bytes:
    """Return text as UTF-8 without a byte order mark. Raises: UnreadableInput."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            if encoding == "utf-8":
                return data[len(mark) :]
            try:
                return data[len(mark) :].decode(encoding).encode("utf-8")
            except UnicodeError:
                raise _unreadable(f"its byte order mark says {encoding}, its text is not", name) from None
    return data


def _unreadable(message: str, name: str) -> UnreadableInput:
    return UnreadableInput(Problem(message, Where(file=name)))
