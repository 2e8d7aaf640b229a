"""
No snapshot crashes the command: well packed ones with any content end in an answer or in one line with their name.

    python -m fuzz.targets.hostile_snapshots [--cases 500] [--seed 1]

A snapshot is a cache, and checked by checksums that whoever makes one can make. So the content is changed in structure,
devices too, which are unpacked long after the rest, and packed again with checksums that fit. A traceback, the words
of a library, a refusal without the file's name, or ten seconds is a failure.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from dra_alloc._version import __version__
from dra_alloc.cli.main import run
from dra_alloc.manifest import load
from dra_alloc.manifest.snapshot.header import FORMAT, Header, digest, framed, read_header
from dra_alloc.manifest.snapshot.late_slices import RATIO, USUAL
from dra_alloc.manifest.snapshot.packed import pack
from dra_alloc.testing.drawing.draw import Seeded
from dra_alloc.testing.drawing.mutation import mutated
from fuzz.target import Broken, Json, Target, command, requests

_SECONDS: Final = 10
_LIBRARIES: Final = re.compile(r"Traceback|msgspec|msgpack|pydantic|zlib|Expected `|Error -\d|codec|dra_alloc\.")
_COMMANDS: Final = (["check"], ["explain"], ["gang", "--most"])
_GROUP: Final = "resource.k8s.io/v1"


def _cases(seed: int) -> Iterator[Json]:
    for number, request in enumerate(requests(seed)):
        cluster = [{"apiVersion": "v1", "kind": "Node", **request["node"]}]
        for kind, member in (("DeviceClass", "classes"), ("ResourceSlice", "slices"), ("ResourceClaim", "claims")):
            cluster += [{"apiVersion": _GROUP, "kind": kind, **each} for each in request[member]]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "cluster.json")
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster}), encoding="utf-8")
            body = _unpacked(pack(load([path], validate="ignore"), ()))
        yield {
            "command": [*Random(number).choice(_COMMANDS), "--release", request["release"]],
            "body": mutated(body, Seeded(f"{seed}/{number}"), number % 4),
            "claims": [{"apiVersion": _GROUP, "kind": "ResourceClaim", **each} for each in request["claims"]],
        }


def _unpacked(data: bytes) -> Any:
    """Return what is in a snapshot as plain values, devices too."""
    body: Any = msgspec.msgpack.decode(data[read_header(data)[1] :])
    for each in body[0]:
        each[2], each[3] = msgspec.msgpack.decode(zlib.decompressobj(zdict=USUAL).decompress(each[2])), "as it is"
    return body


def _packed(body: Any) -> bytes:
    """Return a snapshot with that content, and checksums that fit."""
    for each in body[0] if isinstance(body, list) and body and isinstance(body[0], list) else ():
        if isinstance(each, list) and len(each) > 3:
            text = msgspec.msgpack.encode(each[2])
            squeezing = zlib.compressobj(zdict=USUAL)
            each[2] = (squeezing.compress(text) + squeezing.flush()).ljust(len(text) // RATIO + 1, b"\0")
            each[3] = len(text) if each[3] == "as it is" else each[3]
    packed = msgspec.msgpack.encode(body)
    return framed(Header(FORMAT, __version__, [], [], len(packed), digest(packed))) + packed


def _check(case: Json) -> str:
    try:
        data = _packed(json.loads(json.dumps(case["body"])))
    except (OverflowError, ValueError):
        return "cannot be packed"
    with tempfile.TemporaryDirectory() as folder:
        asked, snapshot = Path(folder, "asked.json"), Path(folder, "cluster.snapshot")
        asked.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": case["claims"]}), encoding="utf-8")
        snapshot.write_bytes(data)
        out, err = io.StringIO(), io.StringIO()
        words = [case["command"][0], str(asked), *case["command"][1:], "--cluster", str(snapshot)]
        began = time.process_time()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = int(run(words))
        said = err.getvalue()
        if code not in (0, 1, 2, 3) or _LIBRARIES.search(said):
            raise Broken(f"exit code {code}: {said[-2000:]}")
        if "damaged" in said and not any(
            line.startswith(f"{snapshot}: a damaged snapshot") for line in said.split("\n")
        ):
            raise Broken(f"damage is not told with its file: {said[-2000:]}")
    if time.process_time() - began > _SECONDS:
        raise Broken("it took too long")
    return "damaged" if "damaged" in said else f"exit {code}"


TARGET = Target("hostile_snapshots", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
