"""
What kube-scheduler's log says about each attempt to place a pod: in which order, the scores, the node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
_LINE: Final = re.compile(r'^[IWE]\d{4} [\d:.]+ +\d+ schedule_one(?:_podgroup)?\.go:\d+\] "([^"]*)" (.*)')
_VALUES: Final = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
_BEGINS: Final = "Attempting to schedule pod"
_GROUP_BEGINS: Final = "Attempting to schedule pod group"
_MEMBER_BEGINS: Final = "Attempting to schedule a pod belonging to a pod group"
_SCORED: Final = "Plugin scored node for pod"
_SUMMED: Final = "Calculated node's final score for pod"
_BOUND: Final = "Successfully bound pod to node"


class AttemptLog:
    """The log of a running scheduler, read on from where it was read last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = path.stat().st_size

    def new(self) -> list[Json]:
        """Return the attempts that were logged since the last time; call it when nothing is under way."""
        with self._path.open("rb") as file:
            file.seek(self._read)
            text = file.read()
        self._read += len(text)
        return attempts(text.decode(errors="replace").splitlines())


def attempts(lines: Iterable[str]) -> list[Json]:
    """
    Return the attempts in the order in which they began: `pod`, `node` (None: not bound), and where several
    nodes passed the filters `scores`: by node the points of each plugin, weighted, and `total`. Those of a pod group
    have `group` and `cycle`, the number of the group's attempt; of attempts that bound nothing the last is kept.
    """
    found: list[Json] = []
    last: dict[str, Json] = {}
    cycle = 0
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        said, values = match[1], {name: value.strip('"') for name, value in _VALUES.findall(match[2])}
        pod = values.get("pod", "")
        if said == _BEGINS:
            last[pod] = {"pod": pod.partition("/")[2], "node": None}
            found.append(last[pod])
        elif said == _GROUP_BEGINS:
            cycle += 1
        elif said == _MEMBER_BEGINS:
            group = values["podGroup"].partition("/")[2]
            last[pod] = {"pod": pod.partition("/")[2], "node": None, "group": group, "cycle": cycle}
            found.append(last[pod])
        elif pod not in last:
            continue
        elif said == _BOUND:
            last[pod]["node"] = values["node"]
        elif said in {_SCORED, _SUMMED}:
            scores = last[pod].setdefault("scores", {}).setdefault(values["node"], {})
            scores["total" if said == _SUMMED else values["plugin"]] = int(values["score"])
    bound = {each["cycle"] for each in found if "cycle" in each and each["node"]}
    kept = bound | {*{each["group"]: each["cycle"] for each in found if "cycle" in each}.values()}
    return [each for each in found if each.get("cycle", 0) in {0, *kept}]
