"""
How far another CEL engine agrees with what upstream said, row by row of the recorded answers.

    python -m fuzz.cel.agreement [--engine cel-python] [--environment 1.36+list]

Error texts are not compared, only match, no match, failure and refusal to compile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dra_alloc import cel
from dra_alloc.errors import EngineUnavailable
from fuzz.cel.devices import prepared

__all__ = ["agreement", "main"]

Json = dict[str, Any]
ENVIRONMENTS: Final = {
    "1.34": ("1.34.10", "stored", False),
    "1.36": ("1.36.2", "stored", False),
    "1.36+list": ("1.36.2", "stored", True),
    "1.37-cel-go-0.29": ("1.37.0", "stored", True),
}
_LISTS: Final = ("ints", "bools", "strings", "versions")


def _lines() -> Iterator[Json]:
    shared = Path(os.environ.get("DRA_ALLOC_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    with gzip.open(shared / "cases" / "cel.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _device(value: Json, lists: bool) -> cel.CelDevice:
    attributes = {
        name: each
        for name, each in value.get("attributes", {}).items()
        if lists or not any(member in each for member in _LISTS)
    }
    whole = {"driver": value["driver"], "capacity": value.get("capacity", {}), "multi": value.get("multi")}
    return prepared({**whole, "attributes": attributes}, lists=lists)


def _said(compiler: cel.Compiler, expression: str, device: cel.CelDevice) -> str:
    try:
        return str(compiler.compile(expression).matches(device))
    except cel.CompileError:
        return "refused"
    except cel.EvaluationError:
        return "fails"


def _upstream(row: Json) -> str:
    if "compile_error" in row:
        return "refused"
    return str(row["match"]) if "match" in row else "fails"


def agreement(engine: str, environment: str) -> Counter[tuple[str, str]]:
    """How often upstream said the first and the engine the second; raises EngineUnavailable, OSError."""
    release, mode, lists = ENVIRONMENTS[environment]
    native = cel.environment(release, mode, lists)
    compiler = cel.compiler(engine, native)
    rows = list(_lines())
    devices = {row["device"]: _device(row["value"], native.lists) for row in rows if "device" in row}
    asked = [row for row in rows if row.get("env") == environment]
    return Counter((_upstream(row), _said(compiler, row["expr"], devices[row["dev"]])) for row in asked)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; 3 where the rows or the engine are not there."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.cel.agreement")
    parser.add_argument("--engine", default="cel-python")
    parser.add_argument("--environment", default="1.36+list", choices=ENVIRONMENTS)
    options = parser.parse_args(arguments)
    try:
        counts = agreement(options.engine, options.environment)
    except (EngineUnavailable, OSError) as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    same = sum(count for (theirs, own), count in counts.items() if theirs == own)
    errors = sum(counts[pair] for pair in (("refused", "fails"), ("fails", "refused")))
    print(f"{same + errors} of {counts.total()} rows: {same} the same, {errors} an error of the other kind")
    for (theirs, own), count in counts.most_common():
        print(f"  {count:5}  upstream {theirs}, {options.engine} {own}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
