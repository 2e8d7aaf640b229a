"""
Extracts upstream's own allocator test table from the pinned module, at test time, as rows like the recorded cases.

    python -m fuzz.upstream_table [--release 1.36] [--check]

A row is `{"name": "<channel>/<case>", "input": request, "expected": {version: answer}}`. The answer is what upstream's
allocator of that channel gave in upstream's own test run, which has to pass. Nothing of upstream is kept here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from fuzz.oracle import Oracle, OracleUnavailable
from fuzz.oracle_build import build, cache_folder, newest, resolve
from fuzz.replay import comparable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["WEAK", "check", "extract", "rows"]

SECONDS = 300
# Cases about cancelled contexts, and inputs that JSON cannot hold (an attribute with an empty list).
LEFT_OUT = frozenset({"interrupted", "lossy"})
# These pass upstream for another reason than their name says: they declare one slice and have two, so that the pool is
# incomplete and nothing else is looked at.
WEAK = frozenset(
    {
        "partitionable-devices-no-capacity-available",
        "partitionable-devices-overallocated-capacity-pool",
        "partitionable-devices-with-binding-conditions-and-taints",
    }
)


def extract(release: str) -> Path:
    """
    The file with the table of a release, written if its sources or pins changed since the last time.

    Raises: OracleUnavailable where there is no Go, the modules cannot be had, or upstream's test fails.
    """
    version = resolve(release, "table")
    binary = build(version, "table")
    target = cache_folder() / f"{binary.name}.jsonl"
    if target.exists():
        return target
    partial = target.with_suffix(f".{os.getpid()}.tmp")
    environment = os.environ | {"ORACLE_TABLE": str(partial)}
    done = subprocess.run([binary], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise OracleUnavailable(f"upstream's own test of {version} fails: {done.stdout[-2000:]}")
    found = sorted((json.loads(line) for line in partial.read_text().splitlines()), key=lambda row: str(row["name"]))
    kept = (row for row in found if not row.keys() & LEFT_OUT)
    partial.write_text("".join(json.dumps(_row(row, version)) + "\n" for row in kept))
    partial.replace(target)
    return target


def rows(release: str) -> list[dict[str, Any]]:
    """The table of a release, in the order of names."""
    return [json.loads(line) for line in extract(release).read_text().splitlines()]


def _row(raw: dict[str, Any], version: str) -> dict[str, Any]:
    name = str(raw["name"]).partition("/")[2]
    return {"name": name, "input": raw["input"], "expected": {version: raw["answer"]}}


def check(release: str) -> Counter[str]:
    """
    Counts of rows that the oracle answers as upstream's test run did, and of the others, which are printed.

    The stable channel walks pools in a random order, and so does every channel up to 1.35: answers may differ there.
    """
    version = resolve(release, "table")
    counts: Counter[str] = Counter()
    table = rows(release)
    with Oracle(version) as oracle:
        for row, answer in zip(table, oracle.batch(row["input"] for row in table), strict=True):
            expected, found = comparable(row["expected"][version]), comparable(answer)
            found = {key: value for key, value in found.items() if key in expected or value is not None}
            counts["equal" if expected == found else "DIFFERENT"] += 1
            if expected != found:
                print(f"{version} {row['name']}\n  table  {json.dumps(expected)}\n  oracle {json.dumps(found)}")
    return counts


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.upstream_table")
    parser.add_argument("--release", action="append", help="default: the newest of each line")
    parser.add_argument("--check", action="store_true", help="ask the oracle each case again")
    options = parser.parse_args(arguments)
    try:
        for release in options.release or newest("table"):
            note = dict(check(release)) if options.check else len(rows(release))
            print(f"{resolve(release, 'table')}: {extract(release)}: {note}")
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
