"""
Recorded runs: one JSON object a line, from which the page on conformance is made.

    python -m fuzz.differential ... --record docs/reference/conformance-runs.jsonl
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
#: The runs that the page is made from.
RUNS: Final = ROOT / "docs" / "reference" / "conformance-runs.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """
    What one run of a tool found.

    `release` is the exact one asked, `setting` the channel or environment.
    Counts, not shares, so that runs add up. `explained` counts the answers
    that agree by a named rule only, `seen` what the cases contained. `on` and
    `commit` (ours) are filled in when the record is written.
    """

    tool: str
    release: str = ""
    setting: str = ""
    seed: int
    start: int = 0
    cases: int
    differences: int
    explained: Mapping[str, int] = field(default_factory=dict)
    allocated: int | None = None
    backtracking: int | None = None
    seen: Mapping[str, int] = field(default_factory=dict)
    missing_pairs: tuple[tuple[str, str], ...] | None = None
    seconds: float
    on: str = ""
    commit: str = ""

    def line(self) -> str:
        """Return the record as a line of JSON; what a tool does not know is left out."""
        plain = _plain(self) | {"seconds": round(self.seconds, 1)}
        return json.dumps({key: value for key, value in plain.items() if value not in (None, "", {})})


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a tool the option to record its run."""
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the figures to FILE, one JSON object a run")


def append(path: Path | None, record: Record) -> None:
    """Append a record, where a file is named; one write, so that tools running at once do not mix their lines."""
    if path is None:
        return
    now = datetime.now(UTC).date().isoformat()
    made = Record(**{**_plain(record), "on": record.on or now, "commit": record.commit or _commit()})
    with path.open("a", encoding="utf-8") as file:
        file.write(made.line() + "\n")


def _plain(record: Record) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in Record.__dataclass_fields__}
    return {name: dict(sorted(each.items())) if isinstance(each, Mapping) else each for name, each in values.items()}


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def read(path: Path = RUNS) -> list[Record]:
    """
    Return the recorded runs of a file.

    Raises: ValueError, with the line, for a line that is no record.
    """
    return list(_records(path, path.read_text(encoding="utf-8").splitlines()))


def _records(path: Path, lines: Iterable[str]) -> Iterable[Record]:
    for number, line in enumerate(lines, 1):
        try:
            plain = json.loads(line)
            pairs = plain.get("missing_pairs")
            if pairs is not None:
                plain["missing_pairs"] = tuple((first, second) for first, second in pairs)
            yield Record(**plain)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path.name}:{number}: {error}") from error
