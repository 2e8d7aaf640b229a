"""
Slices of a snapshot: who they are is read at once, their devices when somebody looks at them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final, cast

import msgspec

from dra_alloc.api import Device, ObjectMeta, ResourceSlice, ResourceSliceSpec
from dra_alloc.errors import ManifestError, Problem
from dra_alloc.manifest.make.outlines import Outline, outline_of
from dra_alloc.manifest.make.records import read_special, record_of, written_special
from dra_alloc.manifest.snapshot.header import UNDECODABLE

__all__ = ["PackedSlice", "packed_slice", "slice_from_packed", "slices_decoder"]

#: Texts that most device lists have, for the compressor.
_USUAL: Final = b"attributes\xa8capacity\xa6string\xa3int\xa4bool\xa7version\xa5value\xa4name"
_MOST_BYTES: Final = 1 << 26
_API_VERSION: Final = "resource.k8s.io/v1"


class LateSpec:
    """A slice's spec, of which devices and shared counters are unpacked on first touch."""

    __slots__ = ("_counting", "_head", "_packed", "_record", "_size", "driver", "node_name", "pool")

    def __init__(self, head: Any, packed: bytes, size: int, *, counting: bool) -> None:
        self.driver = head.driver
        self.pool = head.pool
        self.node_name = head.node_name
        self._head = head
        self._packed = packed
        self._size = size
        self._counting = counting
        self._record: Any = None

    @property
    def record(self) -> Any:
        """Return the whole spec. Raises: ManifestError, if it is damaged in a way that its checksum hides."""
        if self._record is None:
            try:
                # Never more than was said, and that is bounded: a small snapshot must not become a large one unseen.
                most = min(max(self._size, 1), _MOST_BYTES)
                text = zlib.decompressobj(zdict=_USUAL).decompress(self._packed, most)
                devices, counters = _lists_decoder().decode(text)
            except (zlib.error, *UNDECODABLE) as error:
                raise ManifestError([Problem(f"a slice of a snapshot is damaged: {error}")]) from None
            self._record = msgspec.structs.replace(self._head, devices=devices, shared_counters=counters)
        return self._record

    @property
    def shared_counters(self) -> tuple[Any, ...]:
        """Return the shared counters."""
        return self.record.shared_counters if self._counting else ()

    def __getattr__(self, name: str) -> Any:
        if name in _HEAD:
            return getattr(self._head, name)
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.record, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.record == (other.record if isinstance(other, LateSpec) else other))

    def __hash__(self) -> int:
        return hash(self.record)

    def __repr__(self) -> str:
        return repr(self.record)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.record,)


def _itself(value: Any) -> Any:
    return value


#: What is read at once.
_HEAD: Final = frozenset(ResourceSliceSpec.model_fields) - {"devices", "shared_counters"}


class PackedSlice(msgspec.Struct, array_like=True, gc=False):
    """One slice as it is written; `metadata` and `head` are records, `packed` its devices and shared counters."""

    metadata: Any
    head: Any
    packed: bytes
    size: int
    counting: bool
    outline: tuple[bool, bool, bool, bool, list[str | None]]


def packed_slice(item: ResourceSlice) -> PackedSlice:
    """Return what is written for a slice."""
    spec: Any = item.spec.record if isinstance(item.spec, LateSpec) else item.spec
    text = _ENCODER.encode((spec.devices, spec.shared_counters))
    squeezing = zlib.compressobj(zdict=_USUAL)
    packed = squeezing.compress(text) + squeezing.flush()
    repeats, consumes, waits, simple, versions = outline_of(spec.devices)
    outline = repeats, consumes, waits, simple, sorted(versions, key=str)
    head = msgspec.structs.replace(spec, devices=(), shared_counters=())
    return PackedSlice(item.metadata, head, packed, len(text), bool(spec.shared_counters), outline)


def slice_from_packed(packed: PackedSlice) -> tuple[ResourceSlice, Outline]:
    """Return the slice and what is known of its devices."""
    spec = LateSpec(packed.head, packed.packed, packed.size, counting=packed.counting)
    repeats, consumes, waits, simple, versions = packed.outline
    made = _slice_record()(api_version=_API_VERSION, kind="ResourceSlice", metadata=packed.metadata, spec=spec)
    return cast(ResourceSlice, made), Outline(repeats, consumes, waits, simple, frozenset(versions))


@cache
def slices_decoder() -> msgspec.msgpack.Decoder[list[PackedSlice]]:
    """Return what reads the slices of a snapshot."""
    kinds = {"metadata": record_of(ObjectMeta), "head": record_of(ResourceSliceSpec)}
    fields = [(each.name, kinds.get(each.name, each.type)) for each in msgspec.structs.fields(PackedSlice)]
    whole = msgspec.defstruct("ReadSlice", fields, array_like=True, gc=False)
    return msgspec.msgpack.Decoder(list[whole], dec_hook=read_special)  # type: ignore[valid-type]  # made just now


@cache
def _lists_decoder() -> msgspec.msgpack.Decoder[Any]:
    counters = next(each[1] for each in _annotations() if each[0] == "shared_counters")
    devices: Any = tuple[record_of(Device), ...]  # type: ignore[misc]  # made at run time
    both: Any = tuple.__class_getitem__((devices, counters))
    return msgspec.msgpack.Decoder(both, dec_hook=read_special)


def _annotations() -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in msgspec.structs.fields(record_of(ResourceSliceSpec))]


@cache
def _slice_record() -> Callable[..., Any]:
    return record_of(ResourceSlice)


_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=written_special)
