"""
A dump read once and kept: what was checked is not checked again, and devices are unpacked when looked at.

A snapshot is a cache. It says which files it was made of, and is refused when
one of them changed, when it was made by another version, or when it is damaged.

Spec: SNAPSHOT-1 to SNAPSHOT-5.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from dra_alloc._version import __version__
from dra_alloc.api import FrozenMap, KubeModel, ObjectMeta, Pod
from dra_alloc.manifest.documents import Documents, Place, Workload
from dra_alloc.manifest.inputs import STDIN, files_of
from dra_alloc.manifest.kinds import SLICE, Kind, kind_named
from dra_alloc.manifest.late_slices import PackedSlice, packed_slice, slice_from_packed, slices_decoder
from dra_alloc.manifest.outlines import Outline

__all__ = ["MAGIC", "Input", "SnapshotError", "Unpacked", "note_inputs", "pack", "unpack"]

MAGIC: Final = b"dra-alloc snapshot\n"
_FORMAT: Final = 2
_LENGTH: Final = 8
#: What changed longer ago than a tick of the file system's clock has another time when it changes again.
_TICK_NS: Final = 100_000_000
#: The tick of file systems that keep whole seconds.
_COARSE_TICK_NS: Final = 2_000_000_000
_SECOND_NS: Final = 1_000_000_000
_AGAIN: Final = "make it again: dra-alloc snapshot pack"


class SnapshotError(ValueError):
    """A snapshot that cannot be used; `hint` says what to do."""

    def __init__(self, message: str, hint: str = _AGAIN) -> None:
        super().__init__(message)
        self.hint = hint


class Input(msgspec.Struct, array_like=True):
    """A file that a snapshot was made of; `modified` is 0 where the time of the last change says nothing."""

    path: str
    size: int
    modified: int
    digest: bytes


class _Header(msgspec.Struct, array_like=True):
    """What is known before the rest is looked at."""

    format: int
    version: str
    inputs: list[Input]
    size: int
    digest: bytes


class _Place(msgspec.Struct, array_like=True, gc=False):
    file: str
    steps: tuple[str | int, ...]
    line: int
    version: str


class _Other(msgspec.Struct, array_like=True):
    """An object that is no slice: its kind, its JSON text, where it was read."""

    kind: str
    text: str
    place: _Place


class _Body(msgspec.Struct, array_like=True):
    slices: msgspec.Raw
    places: list[_Place]
    others: list[_Other]
    unknown: dict[str, int]


class Unpacked(NamedTuple):
    """One object of a snapshot, with what is known of its devices if it is a slice."""

    kind: Kind
    item: Any
    place: Place
    outline: Outline | None = None


def note_inputs(paths: Sequence[str], target: str) -> list[Input]:
    """
    Return what files are before they are read for a snapshot at `target`; pipes are passed over.

    Raises: OSError for a file that cannot be read.
    """
    folder = Path(target).resolve().parent
    # A pipe gives what it has only once, and a folder without manifests is refused when it is read.
    named = [path for path in files_of(paths) if path != STDIN]
    return [_input(path, folder) for path in named if Path(path).is_file() or not Path(path).exists()]


def pack(documents: Documents, inputs: Sequence[Input]) -> bytes:
    """Return the snapshot of documents that were read from these files."""
    encoder = msgspec.msgpack.Encoder(enc_hook=str)
    slices = encoder.encode([packed_slice(each) for each in documents.slices])
    places = [_packed_place(documents.places[id(each)]) for each in documents.slices]
    others = list(_others(documents))
    body = encoder.encode(_Body(msgspec.Raw(slices), places, others, dict(documents.unknown)))
    header = encoder.encode(_Header(_FORMAT, __version__, list(inputs), len(body), _digest(body)))
    return MAGIC + len(header).to_bytes(_LENGTH, "big") + header + body


def unpack(data: bytes, name: str) -> tuple[Iterator[Unpacked], Mapping[str, int]]:
    """
    Return the objects of a snapshot that was read from a file, and the numbers of objects of other kinds.

    Spec: SNAPSHOT-1 to SNAPSHOT-5. Raises: SnapshotError, now or while the objects are taken.
    """
    start = len(MAGIC) + _LENGTH
    end = start + int.from_bytes(data[len(MAGIC) : start], "big")
    try:
        made_by = msgspec.msgpack.decode(data[start:end], type=list[Any])[:2]
        if made_by != [_FORMAT, __version__]:
            raise SnapshotError(f"a snapshot made by dra-alloc {made_by[-1]}, and this is {__version__}")
        header = msgspec.msgpack.decode(data[start:end], type=_Header)
        body = memoryview(data)[end:]
        if len(body) != header.size or _digest(body) != header.digest:
            raise SnapshotError("a snapshot that is damaged: its checksum does not fit its content")
        _check_inputs(header.inputs, name)
        content = msgspec.msgpack.decode(body, type=_Body)
    except (msgspec.MsgspecError, IndexError) as error:
        raise SnapshotError(f"a snapshot that is damaged: {error}") from None
    return _objects(content), content.unknown


def _objects(content: _Body) -> Iterator[Unpacked]:
    try:
        packed: list[PackedSlice] = slices_decoder().decode(content.slices)
        for each, place in zip(packed, content.places, strict=True):
            item, outline = slice_from_packed(each)
            yield Unpacked(SLICE, item, Place(place.file, place.steps, place.line, SLICE.name, place.version), outline)
        for other in content.others:
            kind = kind_named(other.kind)
            place = other.place
            yield Unpacked(
                kind, _read(kind, other.text), Place(place.file, place.steps, place.line, kind.name, place.version)
            )
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotError(f"a snapshot that is damaged: {error}") from None


def _others(documents: Documents) -> Iterator[_Other]:
    members = ("classes", "claims", "templates", "taint_rules", "nodes", "namespaces", "pods", "pod_groups")
    for item in (each for member in (*members, "workloads") for each in getattr(documents, member)):
        place = documents.places[id(item)]
        yield _Other(place.kind, json.dumps(_written(item)), _packed_place(place))


def _written(item: KubeModel | Workload) -> Any:
    if isinstance(item, Workload):
        return [
            item.api_version,
            item.kind,
            item.metadata.to_wire(),
            item.pod.to_wire(),
            item.replicas,
            dict(item.counts),
        ]
    return item.to_wire()


def _read(kind: Kind, text: str) -> Any:
    if kind.model is not None:
        return kind.model.from_json(text)
    api_version, name, metadata, pod, replicas, counts = json.loads(text)
    found = ObjectMeta.from_wire(metadata), Pod.from_wire(pod)
    return Workload(api_version, name, *found, replicas, FrozenMap(counts))


def _packed_place(place: Place) -> _Place:
    return _Place(place.file, place.steps, place.line, place.version)


def _input(path: str, folder: Path) -> Input:
    found = Path(path).resolve()
    state = found.stat()
    # What changed just now may change again within the same tick of the clock.
    tick = _TICK_NS if state.st_mtime_ns % _SECOND_NS else _COARSE_TICK_NS
    settled = time.time_ns() - state.st_mtime_ns > tick
    data = found.read_bytes()
    return Input(os.path.relpath(found, folder), len(data), state.st_mtime_ns if settled else 0, _digest(data))


def _check_inputs(inputs: Sequence[Input], name: str) -> None:
    """Compare the files a snapshot was made of, those that are there. Raises: SnapshotError."""
    folder = Path(name).resolve().parent
    for each in inputs:
        path = folder / each.path
        try:
            state = path.stat()
            if state.st_size == each.size and (
                state.st_mtime_ns == each.modified or _digest(path.read_bytes()) == each.digest
            ):
                continue
        except OSError:
            continue  # A snapshot may travel without its inputs.
        raise SnapshotError(f"a snapshot of {each.path}, which changed since")


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=16).digest()
