"""
Replays the recorded cases against the oracle and counts what differs.

    python -m fuzz.replay [--release 1.36.2] [--shared ../shared]
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

CEL_ENVIRONMENTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "1.34": [("1.34", {})],
    "1.35": [("1.35", {})],
    "1.36": [("1.36", {}), ("1.36+list", {"list": True}), ("1.36-new", {"mode": "new"})],
    "1.37.0-alpha.2": [("1.37.0-alpha.2", {"list": True})],
    "1.37": [("1.37-cel-go-0.29", {"list": True})],
}
# Their cost depends on the random order in which a map is walked until a match ends the walk.
_RANDOM_COST = (
    'device.attributes["d"].exists(k, k == "b")',
    'device.attributes.exists(k, device.attributes[k].exists(j, device.attributes[k][j] == "abc"))',
)
_BAD_ATTRIBUTE = re.compile(r"attribute \S+: (?=unsupported attribute value|parse semantic)")
_LISTS = ("ints", "bools", "strings", "versions")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of cases, packed or not."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without what is random or not recorded: share IDs, the verdict, which bad attribute is named."""
    kept = {key: value for key, value in answer.items() if key in ("results", "err", "onNode", "n", "panic")}
    kept = copy.deepcopy(kept)
    for result in kept.get("results") or ():
        for device in result["devices"].get("results", ()):
            if "shareID" in device:
                device["shareID"] = "*"
    if "err" in kept:
        kept["err"] = _BAD_ATTRIBUTE.sub("attribute *: ", kept["err"])
        if "operation aborted" in kept["err"] or "operation interrupted" in kept["err"]:
            kept.pop("n", None)
    return kept


def allocations(shared: Path, release: str, oracle: Oracle) -> Counter[str]:
    """Counts of equal and different allocation rows, the different ones printed."""
    rows = [row for name in ("reported.jsonl", "random.jsonl.gz") for row in read(shared / "cases" / name)]
    rows = [row for row in rows if release in row["expected"]]
    counts: Counter[str] = Counter()
    for row, answer in zip(rows, oracle.batch(row["input"] for row in rows), strict=True):
        expected, found = comparable(row["expected"][release]), comparable(answer)
        counts["allocate " + ("equal" if expected == found else "DIFFERENT")] += 1
        if expected != found:
            print(f"{row['name']}\n  recorded {json.dumps(expected)}\n  answered {json.dumps(answer)}")
    return counts


def selectors(shared: Path, release: str, oracle: Oracle) -> Counter[str]:
    """Counts of equal and different CEL rows of the release's environments."""
    devices: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    environments = dict(CEL_ENVIRONMENTS.get(release) or CEL_ENVIRONMENTS.get(release.rpartition(".")[0], []))
    rows: list[dict[str, Any]] = []
    for row in read(shared / "cases" / "cel.jsonl.gz"):
        if "device" in row:
            devices[row["device"]] = row["value"]
        elif row["env"] in environments:
            rows.append(row)
    requests = ({"op": "cel", "expr": row["expr"]} | environments[row["env"]] | _device(row, devices) for row in rows)
    for row, answer in zip(rows, oracle.batch(requests), strict=True):
        expected, found = _cel_recorded(row), _cel_answered(row, answer)
        counts[f"cel {row['env']} " + ("equal" if expected == found else "DIFFERENT")] += 1
        if expected != found:
            print(f"{row['env']} {row['dev']} {row['expr']}\n  recorded {expected}\n  answered {found}")
    return counts


def _device(row: dict[str, Any], devices: dict[str, Any]) -> dict[str, Any]:
    device = devices[row["dev"]]
    if row["env"] in ("1.34", "1.35", "1.36", "1.36-new"):
        kept = {k: v for k, v in device.get("attributes", {}).items() if not set(v) & set(_LISTS)}
        device = device | {"attributes": kept}
    return {"device": device}


_CEL_KEYS = {
    "compile_error": "compile",
    "type": "type",
    "max_cost": "maxcost",
    "cost": "cost",
    "match": "match",
    "error": "err",
}


def _cel_recorded(row: dict[str, Any]) -> dict[str, Any]:
    dropped = {"cost"} if row["expr"] in _RANDOM_COST else set()
    return {_CEL_KEYS[key]: value for key, value in row.items() if key in _CEL_KEYS and key not in dropped}


def _cel_answered(row: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    found = dict(answer)
    if "cost" not in row or row["expr"] in _RANDOM_COST:
        found.pop("cost", None)  # recorded as unstable
    if "error" in row and row["error"] is None and "err" in found:
        found["err"] = None
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command; exits with 1 if a row differs."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.replay")
    parser.add_argument("--release", default="1.36.2")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    options = parser.parse_args(arguments)
    try:
        with Oracle(options.release) as oracle:
            counts = allocations(options.shared, options.release, oracle)
            counts += selectors(options.shared, options.release, oracle)
            print(dict(sorted(counts.items())), dict(oracle.counts))
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    return int(any("DIFFERENT" in key for key in counts))


if __name__ == "__main__":
    sys.exit(main())
