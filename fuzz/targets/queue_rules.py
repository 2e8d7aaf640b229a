"""
What quotas and queues charge, and have left, is what upstream's own code says; needs Go.

    python -m fuzz.targets.queue_rules [--cases 500] [--seed 1]

Asked in turn: the quota tree and the charge of Kueue 0.17.0, the newest one that the module proxy serves, and what a
ResourceQuota charges a claim in Kubernetes. Of a cohort Kueue does not tell what is available; of a queue in debt it
tells 0; up to 0.17 it charges by the number of devices alone, and adminAccess, selectors and constraints are refused.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from dra_alloc.cli.harness.rule import answer_rule
from fuzz.oracle import Oracle
from fuzz.queueing.drawing import claim_usage, device_charge, quota_tree
from fuzz.target import Broken, Json, Target, command

#: Rule -> who draws it, and the releases of which the code is asked.
_DRAWN: Final[Mapping[str, tuple[Callable[[Random], Json], tuple[str, ...]]]] = {
    "kueue/dra-charge": (device_charge, ("0.17",)),
    "kueue/quota-tree": (quota_tree, ("0.17",)),
    "resourcequota/claim-usage": (claim_usage, ("1.36", "1.37")),
}
_AT_ONCE: Final = 200


def _cases(seed: int) -> Iterator[Json]:
    """Return questions with upstream's answer to each, asked many at once, the rules in turn."""
    random = Random(seed)
    oracles = {release: Oracle(release) for _, releases in _DRAWN.values() for release in releases}
    try:
        while True:
            some = [_answered(random, oracles, rule) for rule in _DRAWN]
            yield from itertools.chain.from_iterable(zip(*some, strict=True))
    finally:
        for oracle in oracles.values():
            oracle.close()


def _answered(random: Random, oracles: Mapping[str, Oracle], rule: str) -> list[Json]:
    draw, releases = _DRAWN[rule]
    asked: dict[str, list[Json]] = {release: [] for release in releases}
    for _ in range(_AT_ONCE):
        given = draw(random)
        # From 1.37 on extended resources are always on.
        release = random.choice(releases) if given.get("draExtendedResource", True) else releases[0]
        asked[release].append({"rule": rule, "in": given})
    return [
        {"question": question, "release": release, "upstream": answer}
        for release, questions in asked.items()
        for question, answer in zip(questions, oracles[release].batch(map(_sent, questions)), strict=True)
    ]


def _sent(question: Json) -> Json:
    return {"op": "rule", **question}


def _check(case: Json) -> str:
    question, upstream = case["question"], case["upstream"]
    rule = question["rule"]
    ours = answer_rule(question)["out"]
    ours = _SEEN[rule](ours) if rule in _SEEN else ours
    if ours != upstream.get("out"):
        raise Broken(f"{rule} of {case['release']}: upstream {upstream}, ours {ours}")
    return f"{rule}{' refused' * ('error' in ours)}"


def _tree_seen(out: Json) -> Json:
    """Return what Kueue tells of a tree."""
    return {**out, "nodes": {name: _node_seen(name, node) for name, node in out["nodes"].items()}}


def _node_seen(name: str, node: Json) -> Json:
    hidden = ("available", "potentialAvailable") if name.startswith("cohort") else ()
    told: dict[str, Any] = {}
    for resource, amounts in node["resources"].items():
        told[resource] = {key: value for key, value in amounts.items() if key not in hidden}
        if "available" in told[resource]:
            told[resource]["available"] = max(0, told[resource]["available"])
    return {"borrowing": node["borrowing"], "weightedShare": node["weightedShare"], "resources": told}


def _charge_seen(out: Json) -> Json:
    """Return a charge without what the texts of errors say: they are not the same in all releases."""
    if "error" not in out:
        return out
    return {"error": {key: value for key, value in out["error"].items() if key != "detail"}}


_SEEN: Final[Mapping[str, Callable[[Json], Json]]] = {
    "kueue/dra-charge": _charge_seen,
    "kueue/quota-tree": _tree_seen,
}

TARGET = Target("queue_rules", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
