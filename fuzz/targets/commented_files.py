"""
Files with comments go to another version and back byte for byte; untidy ones keep their comments, and what they say.

Those with mistakes are mended by lint: once is enough, no comment goes, and the diff is what is mended.

    python -m fuzz.targets.commented_files [--cases 500] [--seed 1]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

from dra_alloc.errors import ManifestError
from dra_alloc.manifest.convert.objects import convert, goal_of
from dra_alloc.manifest.convert.texts import convert_text
from dra_alloc.manifest.read.inputs import InputBytes
from fuzz.commented import Style, commented
from fuzz.mistaken import check_mended, mistaken
from fuzz.target import Broken, Json, Target, command
from fuzz.targets.conversion import drawn

_KINDS = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass")
_VERSIONS = ("v1", "v1beta2", "v1beta1")


def _cases(seed: int) -> Iterator[Json]:
    """Return files with an object that is written in one version and has its like in another."""
    random = Random(seed)
    while True:
        if random.random() < 0.3:
            yield {"mistaken": _written(random, Style.drawn(random), mistaken(random))}
        written, to = random.sample(_VERSIONS, 2)
        item, tidy = drawn(random, random.choice(_KINDS), written), random.random() < 0.7
        try:
            # What means unset is left out on the way, and could not come back.
            there = convert(item, to)
            item = _ordered(convert(there, written)) if tidy else item
        except ManifestError:
            continue
        if tidy:
            _name_devices(item)
        style = Style.drawn(random)
        style.tidy = tidy
        yield {"text": _written(random, style, item), "written": written, "to": to, "tidy": tidy}


def _written(random: Random, style: Style, item: Json) -> str:
    """Return an object as JSON or as YAML with comments."""
    if random.random() < 0.2:
        return json.dumps(item, indent=random.choice((None, 1, 2, "\t"))) + "\n"
    return commented(style, item)


def _ordered(value: Any) -> Any:
    """Return an object whose names come before what is moved, as people write them."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    first = ("apiVersion", "kind", "metadata", "name", "firstAvailable")
    names = sorted(value, key=lambda name: first.index(name) if name in first else len(first))
    return {name: _ordered(value[name]) for name in names}


def _name_devices(item: Json) -> None:
    """Give all devices of a slice names and details: beside what has neither nothing more could be written."""
    if item["kind"] != "ResourceSlice" or not item.get("spec"):
        return
    details: Json = {"basic": {}} if item["apiVersion"].endswith("v1beta1") else {}
    devices = item["spec"].get("devices") or []
    for at, device in enumerate(devices):
        devices[at] = {"name": f"d{at}", **details, **(device or {})}


def _check(case: Json) -> str:
    if "mistaken" in case:
        return check_mended(case["mistaken"])
    there = _converted(case["text"], case["to"])
    back = _converted(there, case["written"])
    if case["tidy"] and back != case["text"]:
        raise Broken(f"there it is {there!r}, and back {back!r}")
    if sorted(_comments(there)) != sorted(_comments(case["text"])):
        raise Broken(f"comments are gone: {there!r}")
    return "JSON" if case["text"].startswith("{") else "tidy YAML" if case["tidy"] else "untidy YAML"


def _comments(text: str) -> list[str]:
    """Return what is said behind the marks that comments have here; no word of the objects has one."""
    return re.findall(r"# ?.*?(?=\r?\n|$)", text)


def _converted(text: str, to: str) -> str:
    found = convert_text(InputBytes("file", text.encode()), goal_of(to))
    if found.problems:
        raise Broken(f"to {to}: {found.problems[0]}: {text!r}")
    again = convert_text(InputBytes("file", found.after.encode()), goal_of(to))
    if again.after != found.after or again.changes:
        raise Broken(f"not the same the second time: {again.after!r}")
    return found.after


TARGET = Target("commented_files", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
