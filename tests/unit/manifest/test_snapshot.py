"""A snapshot is as good as the files it was made of, or refused."""

from __future__ import annotations

import copy
import gzip
import os
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dra_alloc._version import __version__
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import ManifestError
from dra_alloc.limits import SLICE_BYTES_MAX
from dra_alloc.manifest import Documents, load
from dra_alloc.manifest.snapshot import header as snapshot_header
from dra_alloc.manifest.snapshot import late_slices
from dra_alloc.manifest.snapshot.header import (
    FORMAT,
    MAGIC,
    Folder,
    Header,
    Input,
    SnapshotError,
    changes,
    digest,
    framed,
    note_folders,
    note_inputs,
    read_header,
)
from dra_alloc.manifest.snapshot.late_slices import LateSpec
from dra_alloc.manifest.snapshot.packed import pack
from tests.paths import EXAMPLES


def _packed(target: Path, *paths: Path) -> Documents:
    named = [str(path) for path in paths]
    inputs = note_inputs(named, str(target))
    folders = note_folders(named, str(target))
    documents = load(named)
    target.write_bytes(pack(documents, inputs, folders))
    return documents


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.yaml"
    path.write_text(
        """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s, uid: u, creationTimestamp: 2026-01-01T00:00:00Z}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  sharedCounters: [{name: c, counters: {memory: {value: 10Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: t}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: m, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {v: {version: 1.2.3}, i: {int: 1}}, capacity: {memory: {value: 5Gi}}}
  - {name: b, taints: [{key: k, effect: NoSchedule, timeAdded: 2026-01-01T00:00:00Z}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: x}
spec: {replicas: 2, template: {spec: {containers: []}}}
---
apiVersion: example.com/v1
kind: Mine
metadata: {name: m, namespace: x}
spec: {share: 0.5, parts: [{spec: {containers: [{name: c, resources: {requests: {cpu: 0.5}}}]}}]}
""",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("paths", [(EXAMPLES / "cluster",), (EXAMPLES / "cluster", EXAMPLES / "workloads")])
def test_documents_are_those_of_the_files(tmp_path: Path, paths: tuple[Path, ...]) -> None:
    target = tmp_path / "cluster.snapshot"
    documents = _packed(target, *paths)
    found = load([target])
    assert found == documents
    for member in ("slices", "claims", "classes", "nodes", "pods", "workloads"):
        for one, other in zip(getattr(found, member), getattr(documents, member), strict=True):
            assert found.places[id(one)] == documents.places[id(other)]
    assert Cluster.of(found).state_hash == Cluster.of(documents).state_hash


def test_every_member_of_a_slice_comes_back(tmp_path: Path, dump: Path) -> None:
    documents = _packed(tmp_path / "s", dump)
    found = load([tmp_path / "s"])
    assert found == documents
    for one, other in zip(found.slices, documents.slices, strict=True):
        assert one.to_wire() == other.to_wire()
        assert hash(one) == hash(other)
        assert one.spec == other.spec == one.spec
        assert copy.copy(one.spec) == other.spec
        assert repr(one.spec) == repr(other.spec)
        assert one.spec.model_copy(update={"driver": "d"}).driver == "d"


def test_a_snapshot_of_a_snapshot(tmp_path: Path, dump: Path) -> None:
    documents = _packed(tmp_path / "one", dump)
    _packed(tmp_path / "two", tmp_path / "one")
    assert load([tmp_path / "two"]) == documents


def test_devices_are_unpacked_when_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _packed(tmp_path / "s", EXAMPLES / "cluster")
    unpacked: list[bytes] = []
    decompressor = zlib.decompressobj

    class Counting:
        def __init__(self, **options: Any) -> None:
            self._inner = decompressor(**options)

        def decompress(self, data: bytes, most: int) -> bytes:
            unpacked.append(data)
            return self._inner.decompress(data, most)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    cluster = Cluster.of(load([tmp_path / "s"]))
    counting = [row for row in cluster.inventory.slices if row.wire.spec.shared_counters]
    assert len(unpacked) == len(counting) < len(cluster.inventory.slices)
    late = next(row.wire for row in cluster.inventory.slices if row not in counting)
    assert isinstance(late.spec, LateSpec)
    assert len(late.spec.devices) == len(late.spec.devices) > 0
    assert len(unpacked) == len(counting) + 1


def test_changed_input_is_refused(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s", dump)
    text = dump.read_bytes()
    os.utime(dump, ns=(1, 1))
    load([tmp_path / "s"])  # touched only
    dump.write_bytes(text.replace(b"name: t", b"name: u"))
    with pytest.raises(ManifestError, match=r"a snapshot of dump\.yaml, which changed since .*snapshot pack"):
        load([tmp_path / "s"])
    dump.unlink()
    (warning,) = load([tmp_path / "s"]).warnings  # a snapshot may travel alone
    assert "could not compare input dump.yaml with what was packed" in warning.message


def test_a_snapshot_that_was_moved_says_what_it_cannot_compare(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n", encoding="utf-8")
    _packed(tmp_path / "s", folder)
    assert load([tmp_path / "s"]).warnings == ()
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "s").rename(tmp_path / "elsewhere" / "s")
    (warning,) = load([moved]).warnings
    assert "could not compare input dump and 2 more with what was packed" in warning.message


@pytest.mark.parametrize("through", ["", "one", "one.gz"])
def test_a_folder_with_a_file_more_or_less_is_refused(tmp_path: Path, through: str) -> None:
    folder = tmp_path / "dump"
    (folder / "deep").mkdir(parents=True)
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
    (folder / "a.yaml").write_text(node, encoding="utf-8")
    (folder / "deep" / "b.yaml").write_text(node, encoding="utf-8")
    target = tmp_path / "out" / "s.json"
    target.parent.mkdir()
    _packed(tmp_path / (through or "unused"), folder)
    if through.endswith(".gz"):
        (tmp_path / through).write_bytes(gzip.compress((tmp_path / through).read_bytes()))
    _packed(target, tmp_path / through if through else folder)
    load([target])
    (folder / "notes.txt").write_text("no manifest", encoding="utf-8")
    load([target])
    (folder / "deep" / "c.yaml").write_text(node, encoding="utf-8")
    with pytest.raises(ManifestError, match=r"folder \.\./dump/deep, which has a new file since: c\.yaml .*pack"):
        load([target])
    (folder / "deep" / "c.yaml").unlink()
    load([target])
    (folder / "more").mkdir()
    with pytest.raises(ManifestError, match=r"folder \.\./dump, which has a new folder since: more/"):
        load([target])
    (folder / "more").rmdir()
    (folder / "a.yaml").unlink()
    with pytest.raises(ManifestError, match=r"folder \.\./dump, which has lost a file since: a\.yaml"):
        load([target])


def test_a_snapshot_within_its_own_folder_is_no_new_file(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s.json", tmp_path)
    assert load([tmp_path / "s.json"]).warnings == ()


def test_a_snapshot_of_a_snapshot_is_refused_when_the_first_input_changed(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "one", dump)
    (tmp_path / "deep").mkdir()
    _packed(tmp_path / "deep" / "two", tmp_path / "one")
    load([tmp_path / "deep" / "two"])
    dump.write_bytes(dump.read_bytes() + b"---\n")
    with pytest.raises(ManifestError, match=r"a snapshot of \.\./dump\.yaml, which changed since"):
        load([tmp_path / "deep" / "two"])


def test_same_size_and_time_right_after_packing_is_no_proof(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s", dump)
    state = dump.stat()
    dump.write_bytes(dump.read_bytes().replace(b"name: t", b"name: u"))
    os.utime(dump, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(ManifestError, match="which changed since"):
        load([tmp_path / "s"])


@pytest.mark.parametrize(("age", "told"), [(0.0, False), (1.5, False), (2.5, True)])
def test_the_time_of_an_input_counts_once_the_slowest_clock_has_ticked(tmp_path: Path, age: float, told: bool) -> None:
    path = tmp_path / "dump.json"
    path.write_text("{}", encoding="utf-8")
    changed = time.time_ns() - int(age * 1e9)
    os.utime(path, ns=(changed, changed))
    (noted,) = note_inputs([str(path)], str(tmp_path / "dump.snapshot"))
    assert noted.modified == (changed if told else 0)


@pytest.mark.parametrize("size", [0, 1, 1 << 40])
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/proc/kmsg", "pipe", "/usr", "/", "a\0b", "n" * 5000])
def test_a_snapshot_that_names_what_is_no_input_of_it_reads_nothing(tmp_path: Path, path: str, size: int) -> None:
    """Devices and pipes give no end of data, or none ever; folders may be whole systems."""
    os.mkfifo(tmp_path / "pipe")
    for inputs, folders in (([Input(path, size, 0, digest(b""))], []), ([], [Folder(path, ())])):
        header = Header(FORMAT, __version__, inputs, folders, 5, digest(b"\x94\x90\x90\x90\x80"))
        (tmp_path / "s").write_bytes(framed(header) + b"\x94\x90\x90\x90\x80")
        started = time.process_time()
        try:
            said = [each.message for each in load([tmp_path / "s"]).warnings]
        except ManifestError as error:
            said = [str(error)]
        assert all("could not compare" in each or "a snapshot of" in each for each in said)
        assert time.process_time() - started < 1


def test_what_a_snapshot_names_many_times_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, large = tmp_path / "folder", tmp_path / "large"
    folder.mkdir()
    (folder / "link").symlink_to("../large")
    large.write_bytes(bytes(1 << 20))
    looked: Counter[str] = Counter()

    def count(inner: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            looked[inner.__name__] += 1
            return inner(*args)

        return counted

    monkeypatch.setattr(snapshot_header, "_listing", count(snapshot_header._listing))
    monkeypatch.setattr(snapshot_header, "_digest_of", count(snapshot_header._digest_of))
    ways = [f"{'folder/../' * times}large" for times in range(40)] + ["folder/link"]
    inputs = [Input(path, 1 << 20, 0, digest(bytes(1 << 20))) for path in ways]
    folders = [Folder(f"{'folder/../' * times}folder", ()) for times in range(40)]
    changes(Header(FORMAT, __version__, inputs, folders, 0, b""), str(tmp_path / "s"))
    assert looked == {"_digest_of": 1, "_listing": 1}
    with pytest.raises(SnapshotError, match="names more files than a load reads"):
        changes(Header(FORMAT, __version__, inputs * 10_000, [], 0, b""), str(tmp_path / "s"))


def test_other_version_is_refused(tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _packed(tmp_path / "s", dump)
    monkeypatch.setattr(snapshot_header, "__version__", "99.0")
    with pytest.raises(ManifestError, match=r"made by dra-alloc .*, and this is 99\.0"):
        load([tmp_path / "s"])


def test_damage_is_refused(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s", dump)
    data = (tmp_path / "s").read_bytes()
    for size in range(len(MAGIC), len(data), 7):
        (tmp_path / "s").write_bytes(data[:size])
        with pytest.raises(ManifestError, match="snapshot"):
            load([tmp_path / "s"])
    for place in (*range(len(MAGIC) + 60), *range(len(MAGIC) + 60, len(data), 11)):
        (tmp_path / "s").write_bytes(data[:place] + bytes([data[place] ^ 0x54]) + data[place + 1 :])
        with pytest.raises(ManifestError, match="a damaged snapshot"):
            load([tmp_path / "s"])


def test_every_flipped_bit_of_the_header_is_refused(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s", dump)
    data = (tmp_path / "s").read_bytes()
    end = read_header(data)[1]
    for bit in range(8 * end):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        (tmp_path / "s").write_bytes(damaged)
        with pytest.raises(ManifestError, match="a damaged snapshot"):
            load([tmp_path / "s"])


@pytest.mark.parametrize("body", [b"\x94\xa1\xff", b"\x91" * 100_000, b"\x94\x90\x90\x91\x93\xa1\xff\xa0\x90\x80"])
def test_a_forged_body_is_refused(tmp_path: Path, body: bytes) -> None:
    header = Header(FORMAT, __version__, [], [], len(body), digest(body))
    (tmp_path / "s").write_bytes(framed(header) + body)
    with pytest.raises(ManifestError, match="a damaged snapshot"):
        load([tmp_path / "s"])


def test_a_snapshot_that_was_cut_to_its_first_line_or_to_nothing_is_refused(tmp_path: Path, dump: Path) -> None:
    _packed(tmp_path / "s", dump)
    data = (tmp_path / "s").read_bytes()
    for size in range(1, len(MAGIC) + 1):
        (tmp_path / "s").write_bytes(data[:size])
        with pytest.raises(ManifestError, match="a damaged snapshot"):
            load([tmp_path / "s"])
    for name in ("s", "cluster.snapshot", "s.gz"):
        (tmp_path / name).write_bytes(b"" if name != "s.gz" else gzip.compress(b""))
        with pytest.raises(ManifestError, match=rf"{name}.*is empty: it is neither .*snapshot pack"):
            load([tmp_path / name])


def test_an_empty_manifest_is_no_object_and_said_if_it_was_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch()
    (tmp_path / "b.json").touch()
    (warning,) = load([tmp_path / "a.yaml"]).warnings
    assert "is empty" in warning.message
    assert load([tmp_path]).warnings == ()


def _forged(item: Any, text: bytes, size: int, count: int) -> bytes:
    """Return a snapshot of slices whose devices are that text, packed as tightly as can be, and said to be so large."""
    squeezing = zlib.compressobj(9, zdict=late_slices.USUAL)
    slices = [late_slices.packed_slice(item) for _ in range(count)]
    squeezed = squeezing.compress(text) + squeezing.flush()
    for each in slices:
        each.packed, each.size = squeezed, size
    encoder = msgspec.msgpack.Encoder(enc_hook=str)
    body = encoder.encode([slices, [("f", (0,), 1, "v1")] * count, [], {}])
    return framed(Header(FORMAT, __version__, [], [], len(body), digest(body))) + body


@pytest.mark.parametrize("squeezed", [False, True])
def test_a_small_snapshot_never_becomes_a_large_one(tmp_path: Path, dump: Path, squeezed: bool) -> None:
    """Devices without a name in a list without end: a byte each, and a thousand of them in a byte."""
    item = load([dump]).slices[0]
    many = b"\xdd" + (1 << 20).to_bytes(4, "big") + b"\x80" * (1 << 20)
    text = b"\x92" + many + b"\x90"
    for size in (1, 1 << 10, len(text), SLICE_BYTES_MAX, 1 << 40):
        data = _forged(item, text, size, 20)
        (tmp_path / "s").write_bytes(gzip.compress(data) if squeezed else data)
        tracemalloc.start()
        with pytest.raises(ManifestError, match=f"{tmp_path}/s: a (damaged )?snapshot") as caught:
            _ = [each.spec.devices for each in load([tmp_path / "s"]).slices]
        assert "\n" not in str(caught.value)
        assert not any(word in str(caught.value) for word in ("zlib", "Error", "Expected", "msgspec"))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()


@pytest.mark.parametrize("lie", range(6))
def test_what_is_said_of_devices_before_they_are_unpacked_is_held_against_them(dump: Path, lie: int) -> None:
    for item in load([dump]).slices:
        packed = late_slices.packed_slice(item)
        assert late_slices.slice_from_packed(packed, "s")[0].spec.devices == item.spec.devices
        said = list(packed.outline)
        if lie < len(said):
            said[lie] = ["9.9.9"] if isinstance(said[lie], list) else not said[lie]
            packed.outline = (*said,)  # type: ignore[assignment]  # of the same length
        else:
            packed.counting = not packed.counting
        with pytest.raises(ManifestError, match="s: a damaged snapshot"):
            _ = late_slices.slice_from_packed(packed, "s")[0].spec.devices


def test_devices_that_are_all_alike_are_still_packed_within_the_ratio(tmp_path: Path, dump: Path) -> None:
    slices: Any = load([dump]).slices
    alike = tuple(msgspec.structs.replace(slices[1].spec.devices[0], name=f"{each}" * 40) for each in range(100))
    packed = late_slices.packed_slice(
        slices[1].model_copy(update={"spec": slices[1].spec.model_copy(update={"devices": alike})})
    )
    assert packed.size > (len(packed.packed) - 1) * late_slices.RATIO
    assert packed.size <= len(packed.packed) * late_slices.RATIO
    assert late_slices.slice_from_packed(packed, "s")[0].spec.devices == alike
