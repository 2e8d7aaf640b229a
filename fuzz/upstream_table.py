"""
Extracts upstream's own allocator test table from the pinned module, at test time, as rows like the recorded cases.

    python -m fuzz.upstream_table [--release 1.36] [--check | --ours [--record FILE]]

A row is `{"name": "<channel>/<case>", "input": request, "expected": {version: answer}}`. The answer is what upstream's
allocator of that channel gave in upstream's own test run, which has to pass; `"random": true` marks the rows where a
second run gave another one. Nothing of upstream is kept here. `--check` asks the oracle the same again, `--ours` us.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from dra_alloc.testing.comparison import Agreement, compare
from fuzz.differential import ours
from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, build, cache_folder, newest, resolve
from fuzz.recording import Record, add_option, append
from fuzz.replay import comparable

SECONDS = 300
RUNS = 20
# Cases about cancelled contexts, and inputs that JSON cannot hold (an attribute with an empty list,
# a quantity of 10^21, which Go prints as 1).
LEFT_OUT = frozenset({"interrupted", "lossy"})
# Cases to be read with care, by name, with the reason: weak ones, and those that we answer differently.
KNOWN = Path(__file__).parent / "upstream" / "table" / "known.yaml"


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
    runs = [_run(binary, target.with_suffix(f".{os.getpid()}.tmp")) for _ in range(RUNS)]
    answers = [{row["name"]: comparable(row["answer"]) for row in run} for run in runs]
    lines = []
    for raw in sorted(runs[0], key=lambda row: str(row["name"])):
        if not raw.keys() & LEFT_OUT:
            row = {"name": raw["name"], "input": raw["input"], "expected": {version: raw["answer"]}}
            if any(found[raw["name"]] != answers[0][raw["name"]] for found in answers):
                row["random"] = True
            lines.append(json.dumps(row) + "\n")
    partial = target.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text("".join(lines))
    partial.replace(target)
    return target


def _run(binary: Path, path: Path) -> list[dict[str, Any]]:
    """One run of upstream's test, with the names of the cases below the channel's."""
    done = subprocess.run(
        [binary],
        env=os.environ | {"ORACLE_TABLE": str(path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise OracleUnavailable(f"upstream's own test fails: {done.stdout[-2000:]}")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    path.unlink()
    return [row | {"name": str(row["name"]).partition("/")[2]} for row in found]


def rows(release: str) -> list[dict[str, Any]]:
    """The table of a release, in the order of names."""
    return [json.loads(line) for line in extract(release).read_text().splitlines()]


def check(release: str) -> Counter[str]:
    """
    Counts of rows that the oracle answers as upstream's test run did, and of the others, which are printed.

    The stable channel walks pools in a random order, and so does every channel up to 1.35: such rows are counted apart.
    """
    version = resolve(release, "table")
    counts: Counter[str] = Counter()
    table = rows(release)
    with Oracle(version) as oracle:
        for row, answer in zip(table, oracle.batch(_with_selectors(row["input"]) for row in table), strict=True):
            expected, found = comparable(row["expected"][version]), comparable(answer)
            if "n" not in expected:
                found.pop("n", None)
            same = expected == found
            counts["random" if "random" in row else "equal" if same else "DIFFERENT"] += 1
            if not same and "random" not in row:
                print(f"{version} {row['name']}\n  table  {json.dumps(expected)}\n  oracle {json.dumps(found)}")
    return counts


def known(kind: str, release: str) -> dict[str, str]:
    """The cases of a kind, `weak` or `open`, with why they are listed; `open` ones have their channel in the name."""
    found: dict[str, str] = {}
    for entry in yaml.safe_load(KNOWN.read_text(encoding="utf-8"))[kind]:
        if release.startswith(tuple(entry.get("releases", ("",)))):
            found |= dict.fromkeys(entry["cases"], entry["why"])
    return found


def hold_ours(release: str) -> tuple[Counter[str], list[tuple[str, Agreement]]]:
    """Counts of rows by how we answer them, and the rows that we answer differently without a reason known here."""
    version = resolve(release, "table")
    counts: Counter[str] = Counter()
    different = []
    for row in rows(release):
        name = str(row["name"])
        verdict = compare(_request(row["input"], version), row["expected"][version], ours)
        if verdict.same:
            counts[verdict.rule or "equal"] += 1
        elif "random" in row:
            counts["random"] += 1
        else:
            different.append((name, verdict))
    return counts, different


def _request(row: dict[str, Any], version: str) -> dict[str, Any]:
    """The row's question in the protocol's words; older releases have one switch more, of which both must be on."""
    features = dict(row["features"])
    halves = [features.pop(name) for name in ("DeviceBinding", "DeviceStatus") if name in features]
    if halves:
        features["DeviceBindingAndStatus"] = all(halves)
    return {**_with_selectors(row), "features": features, "release": version, "engine": "first-fit"}


def _with_selectors(row: dict[str, Any]) -> dict[str, Any]:
    """The row's question with the selectors' switch for lists, which upstream's test takes from the allocator's."""
    if "ListTypeAttributes" not in row["features"]:
        return row
    return {**row, "selectorLists": row["features"]["ListTypeAttributes"]}


def main(arguments: list[str] | None = None) -> int:
    """The command; exits with 1 if an answer of ours differs."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.upstream_table")
    parser.add_argument("--release", action="append", help="default: the newest of each line")
    parser.add_argument("--check", action="store_true", help="ask the oracle each case again")
    parser.add_argument("--ours", action="store_true", help="hold our answers against the table")
    add_option(parser)
    options = parser.parse_args(arguments)
    failed = False
    try:
        for release in options.release or newest("table"):
            note = dict(check(release)) if options.check else len(rows(release))
            print(f"{resolve(release, 'table')}: {extract(release)}: {note}")
            failed |= options.ours and _hold(release, options.record)
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    return int(failed)


def _hold(release: str, record: Path | None) -> bool:
    """Print and record how our answers compare; whether one differs."""
    began = time.monotonic()
    counts, different = hold_ours(release)
    print(f"  {dict(counts)}, {len(different)} different", flush=True)
    for name, verdict in different:
        print(f"  {name}\n    upstream {json.dumps(verdict.upstream)}\n    ours     {json.dumps(verdict.ours)}")
    made = Record(
        tool="upstream_table",
        release=resolve(release, "table"),
        seed=0,
        cases=counts.total() + len(different),
        differences=len(different),
        explained={rule: count for rule, count in counts.items() if rule != "equal"},
        seconds=time.monotonic() - began,
    )
    append(record, made)
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
