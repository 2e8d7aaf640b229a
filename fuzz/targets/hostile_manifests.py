"""
No input crashes the command: manifests and dumps, mutated in structure or in their bytes, end in an answer or an error.

    python -m fuzz.targets.hostile_manifests [--cases 500] [--seed 1]

Files are swollen, too, with what costs a reader more than its bytes, selectors nest macros up to what the API lets them
cost, and files are called after commands of build servers. An exit code other than 0 to 3, a traceback, output that is
not JSON or XML where that was asked for, a control character or a command that gets through to the terminal, or half a
minute of processor time is a failure.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final
from xml.etree import ElementTree as ET

import yaml

from dra_alloc.cli.main import run
from dra_alloc.report import FORMATS
from dra_alloc.testing.drawing.draw import Seeded
from dra_alloc.testing.drawing.mutation import mutated
from fuzz.target import Broken, Json, Target, command, requests

_GROUP: Final = "resource.k8s.io"
#: The older ones have another shape, so that every object is wrong in them.
_VERSIONS: Final = (*("v1",) * 12, *("v1beta2",) * 6, "v1beta1", "v1alpha3")
_BUDGET: Final = ("--budget", "2000000")
_LIMITS: Final = ("--steps", "3000", "--solver-units", "0", *_BUDGET)
_COMMANDS: Final = (
    ("check", *_LIMITS),
    ("explain", *_LIMITS),
    ("gang", "--most", *_BUDGET),
    ("cel", "device.driver == 'd1'"),
    ("convert", "--check", "--to", "v1beta1"),
    ("lint", *_BUDGET),
)
_SECONDS: Final = 30
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_STEERS: Final = re.compile(r"^\s*::(?!(error|warning|notice) )|##\w*\[", re.MULTILINE)
_PLAIN: Final = "{}.txt"
_NAMES: Final = ("::error::{}", "##vso[task.{}]x", "##[error]{}", "##teamcity[{}]", "\x1b[2J{}", "\u202e{}", "a\n::{}")
_JSON: Final = ("json", "sarif", "gitlab", "rdjson")
_LIST: Final = b'{"apiVersion": "v1", "kind": "List", "items": [%s]}'
_CLAIM: Final = b'{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {"devices": {"%s": [%s]}}}'
#: Enough to show what is held against all that came before it.
_MANY: Final = 20_000


def _cases(seed: int) -> Iterator[Json]:
    for number, request in enumerate(requests(seed)):
        random = Random(f"{seed}/{number}")
        words = list(random.choice(_COMMANDS))
        if words[0] in ("check", "explain"):
            words += ["--validate", random.choice(("strict", "warn", "ignore", "ignore"))]
        version = random.choice(_VERSIONS)
        cluster = [{"apiVersion": "v1", "kind": "Node", **request["node"]}]
        for kind, member in (("DeviceClass", "classes"), ("ResourceSlice", "slices")):
            cluster += [{"apiVersion": f"{_GROUP}/{version}", "kind": kind, **each} for each in request[member]]
        claims = [{"apiVersion": f"{_GROUP}/{version}", "kind": "ResourceClaim", **each} for each in request["claims"]]
        for claim in claims:
            claim["metadata"] = {**claim["metadata"], "namespace": "ns"}
            if random.random() < 0.1:
                _ask_long(claim, random)
        spoilt = random.choice(("cluster", "manifests", "nothing"))
        release = [] if words[0] == "convert" else ["--release", request["release"]]
        yield {
            "command": [*words, *release, "--format", random.choice(_formats(words[0]))],
            "names": [random.choice(_NAMES) if random.random() < 0.3 else _PLAIN for _ in range(2)],
            "cluster": _text(cluster, random, spoil=spoilt == "cluster"),
            "manifests": _text([*claims, *_pods(claims)], random, spoil=spoilt == "manifests"),
        }


def _formats(command: str) -> tuple[str, ...]:
    return ("text", "json", "json", *(tuple(FORMATS) if command in ("check", "explain", "gang") else ()))


def _pods(claims: list[Json]) -> list[Json]:
    names = [claim["metadata"]["name"] for claim in claims]
    uses = [{"name": name, "resourceClaimName": name} for name in names]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}}
    containers = [{"name": "c", "image": "i", "resources": {"claims": [{"name": name} for name in names]}}]
    return [{**pod, "spec": {"resourceClaims": uses, "containers": containers}}]


def _ask_long(claim: Json, random: Random) -> None:
    """Let a claim select by macros in macros, which cost what the API allows, about, on each device."""
    inner = random.choice(("device.driver != 'd1'", "1 == 1", "device.attributes['d1'].a == 'x'"))
    for number in range(random.randint(10, 16)):
        inner = f"[1, 2].{random.choice(('all', 'exists', 'exists_one'))}(x{number}, {inner})"
    for request in claim["spec"].get("devices", {}).get("requests", ()):
        if "exactly" in request:
            request["exactly"] = {**request["exactly"], "selectors": [{"cel": {"expression": inner}}]}


def _text(documents: list[Json], random: Random, *, spoil: bool) -> str:
    """Return the documents as JSON or YAML, changed in structure, in bytes, in both or not at all; in base 64."""
    made: Any = documents
    if spoil and random.random() < 0.9:
        made = mutated(documents, Seeded(str(random.random())), random.choice((1, 1, 2, 4)))
    if random.random() < 0.5:
        data = json.dumps({"apiVersion": "v1", "kind": "List", "items": made}).encode()
    else:
        data = yaml.safe_dump_all(made, sort_keys=False).encode()
    if spoil and random.random() < 0.25:
        data = _damaged(data, random)
    if spoil and random.random() < 0.15:
        data = _swollen(data, random)
    return base64.b64encode(data).decode()


def _swollen(data: bytes, random: Random) -> bytes:
    """Return the text with something in it so many times that what is not linear in it takes minutes."""
    each = random.choice((b"{}", b"null", b"[]", b'{"kind": "List"}'))
    members = b",".join([each] * _MANY)
    return random.choice(
        (
            gzip.compress(b"") * _MANY + gzip.compress(data),
            gzip.compress(data) + b"\0" * 50 * _MANY,
            gzip.compress(data * 1000),
            b"".join(b"%%TAG !a%d! tag:x:%d\n" % (number, number) for number in range(_MANY)) + b"---\n" + data,
            b"---\n" * _MANY + data,
            b"#\n" * _MANY + data,
            data + b"\n" * 10 * _MANY,
            _LIST % members,
            _LIST % (_LIST % members),
            _CLAIM % (random.choice((b"requests", b"constraints", b"config")), members),
            b"apiVersion: v1\nkind: List\nitems:\n" + b"- %s\n" % each * _MANY,
        )
    )


def _damaged(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    to = min(len(data), at + random.choice((0, 1, 7)))
    new = random.choice((b"", b"\0", b"\xff", b"{", b"]", b"&a", b"*a", b"'", b"- ", b"\t", b"!!python/x ", b"\n---\n"))
    return data[:at] + new + data[to:]


def _check(case: Json) -> str:
    with tempfile.TemporaryDirectory() as folder:
        names = zip(("manifests", "cluster"), case.get("names", (_PLAIN, _PLAIN)), strict=True)
        paths = {name: str(Path(folder, shape.format(name))) for name, shape in names}
        for name, path in paths.items():
            Path(path).write_bytes(base64.b64decode(case[name]))
        words, rest = case["command"][:1], case["command"][1:]
        if words[0] != "cel":
            words.append(paths["manifests"])
        words += [paths["cluster"], *rest] if words[0] == "convert" else [*rest, "--cluster", paths["cluster"]]
        began = time.process_time()
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = int(run(words))
    _judge(case, code, out.getvalue(), err.getvalue())
    if time.process_time() - began > _SECONDS:
        raise Broken("it took too long")
    return f"exit {code}"


def _judge(case: Json, code: int, out: str, err: str) -> None:
    if code not in (0, 1, 2, 3) or "Traceback" in err:
        raise Broken(f"exit code {code}: {err[-2000:]}")
    if code == 2 and not (err + out).strip():
        raise Broken("refused without a word")
    if _CONTROL.search(out + err):
        raise Broken(f"a control character: {_CONTROL.findall(out + err)}")
    if steers := _STEERS.search(err) or _STEERS.search(out):
        raise Broken(f"a command: {steers[0]}")
    form = case["command"][-1]
    try:
        if (out and form in _JSON) or (code != 2 and form == "json"):
            json.loads(out)
        if out and form == "junit":
            ET.fromstring(out)
    except (ValueError, ET.ParseError) as error:
        raise Broken(f"not what was asked for: {error}") from None


TARGET = Target("hostile_manifests", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
