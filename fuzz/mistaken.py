"""
Claims with mistakes that lint mends: drawn, and what mending has to keep.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from random import Random
from typing import Final

from dra_alloc.cli.rewriting import diff_of
from dra_alloc.linting.fixing import mended
from dra_alloc.linting.running import LintAsked, linted
from dra_alloc.manifest import Manner, load_readable
from fuzz.target import Broken, Json

_ASKED: Final = LintAsked()
_MANNER: Final = Manner("strict", "keep", _ASKED.settings.profile().release)


def mistaken(random: Random) -> Json:
    """Return a claim with one to four mistakes."""
    names = random.sample(("gpu", "mig", "nic"), random.choice((1, 1, 2, 3)))
    requests = [{"name": name, "exactly": _exactly(random)} for name in names]
    devices: Json = {"requests": requests}
    if random.random() < 0.5:
        devices["constraints"] = [{"requests": names, "matchAttribute": "gpu.example.com/numa"}]
    if random.random() < 0.3:
        devices["config"] = [{"opaque": {"driver": "gpu.example.com", "parameters": {"a": {"b": "c d"}}}}]
    item: Json = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "one", "labels": {"a": "b"}},
        "spec": {"devices": devices},
    }
    for _ in range(random.choice((1, 1, 2, 4))):
        random.choice(_MISTAKES)(random, item)
    return item


def _exactly(random: Random) -> Json:
    fields: Json = {"deviceClassName": "gpu.example.com", "count": 2, "allocationMode": "ExactCount"}
    if random.random() < 0.5:
        selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
        fields["selectors"] = [selector] * random.choice((1, 2))
    kept = [name for name in fields if name == "deviceClassName" or random.random() < 0.6]
    random.shuffle(kept)
    return {name: fields[name] for name in kept}


def _flat(random: Random, item: Json) -> None:
    """Let some or all that a request asks for stand directly in it."""
    request = random.choice(item["spec"]["devices"]["requests"])
    inner = request.get("exactly") or {}
    for name in [name for name in inner if random.random() < 0.7]:
        request[name] = inner.pop(name)
    if not inner:
        request.pop("exactly", None)
    members = list(request.items())
    random.shuffle(members)
    request.clear()
    request.update(members)


def _bare(random: Random, item: Json) -> None:
    for request in item["spec"]["devices"]["requests"]:
        for selector in request.get("exactly", request).get("selectors", ()):
            if "cel" in selector and random.random() < 0.7:
                selector["expression"] = selector.pop("cel")["expression"]


def _unlisted(_: Random, item: Json) -> None:
    config = item["spec"]["devices"].get("config")
    if isinstance(config, list):
        item["spec"]["devices"]["config"] = config[0]


def _operator(_: Random, item: Json) -> None:
    for each in item["spec"]["devices"].get("constraints", ()):
        each["operator"] = "Equal"


def _shareable(random: Random, item: Json) -> None:
    item["spec"] = {"shareable": True, **item["spec"]} if random.random() < 0.5 else {**item["spec"], "shareable": True}


def _numbered(_: Random, item: Json) -> None:
    item["metadata"]["labels"]["a"] = 7


def _nested(_: Random, item: Json) -> None:
    if "spec" not in item["spec"]:
        item["spec"] = {"spec": item["spec"]}


def _unnested(function: Callable[[Random, Json], None]) -> Callable[[Random, Json], None]:
    return lambda random, item: None if "spec" in item["spec"] else function(random, item)


_MISTAKES: Final = (*map(_unnested, (_flat, _flat, _bare, _unlisted, _operator, _shareable)), _numbered, _nested)


def check_mended(text: str) -> str:
    """Say how a text was mended. Raises: Broken, if mending again does more, or a comment or the diff is wrong."""
    after, left = _mended(text)
    if _mended(after)[0] != after:
        raise Broken(f"not the same the second time: {after!r}")
    if not text.startswith("{") and sorted(re.findall(r"# ?.*?(?=\r?\n|$)", text)) != sorted(
        re.findall(r"# ?.*?(?=\r?\n|$)", after)
    ):
        raise Broken(f"comments are gone: {after!r}")
    return "left as it was" if left and after == text else "partly mended" if left else "mended"


def _mended(text: str) -> tuple[str, int]:
    """Return a text mended, and how much of it could be and is not. Raises: Broken, if its diff says otherwise."""
    read = load_readable(["-"], stdin=BytesIO(text.encode()), manner=_MANNER)
    for found in mended(read[0], linted(read, _ASKED), _ASKED):
        if _patched(found.before, diff_of(found)) != found.after:
            raise Broken(f"the diff is not what is mended: {diff_of(found)!r}")
        text = found.after
    again = load_readable(["-"], stdin=BytesIO(text.encode()), manner=_MANNER)
    return text, sum(each.fix == "safe" for each in linted(again, _ASKED).findings)


def _patched(text: str, diff: str) -> str:
    """Return a text with a unified diff applied."""
    lines, told = (re.findall(r"[^\n]*\n|[^\n]+$", each) for each in (text, diff))
    parts, at = list[str](), 0
    for line, following in zip(told[2:], [*told[3:], ""], strict=True):
        said = line[1:-1] if following.startswith("\\") else line[1:]
        if found := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            begins = int(found[1]) - (found[2] != "0")
            parts += lines[at:begins]
            at = begins
        elif not line.startswith("\\"):
            if line[0] in " -" and lines[at] != said:
                raise Broken(f"the diff does not fit: {line!r} in line {at + 1}")
            at += line[0] in " -"
            parts += [said] * (line[0] in " +")
    return "".join([*parts, *lines[at:]])
