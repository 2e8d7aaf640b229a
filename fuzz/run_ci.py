"""
Every comparison and every target, bounded, the same cases every time, for continuous integration.

    python -m fuzz.run_ci
"""

from __future__ import annotations

import sys
from typing import Final

from dra_alloc.testing.drawing.dialect import Dialect
from fuzz.differential import run
from fuzz.oracle import Oracle, OracleUnavailable
from fuzz.run_all import names, run_each

__all__ = ["CASES_OF", "main"]

RELEASES: Final = ("1.34.13", "1.35.10", "1.36.2", "1.36.6", "1.37.2", "1.38.0-beta.0")
CHANNELS: Final = ("stable", "incubating", "experimental")
CASES: Final = 300
SEED: Final = 20_261_128
#: Cases per target: a few seconds each.
CASES_OF: Final = {
    "add_and_remove": 60,
    "cel_second_opinions": 60,
    "cel_selectors": 600,
    "cel_syntax": 600,
    "changed_clusters": 12,
    "commented_files": 400,
    "control_plane": 20,
    "conversion": 3000,
    "determinism": 150,
    "dump_and_load": 100,
    "engines": 2000,
    "fewer_constraints": 600,
    "hostile_manifests": 150,
    "hostile_requests": 1500,
    "hostile_snapshots": 200,
    "permuted_input": 400,
    "pod_fields": 1000,
    "pods_on_nodes": 500,
    "quantity_arithmetic": 5000,
    "quantity_upstream": 5000,
    "reasons_hold": 60,
    "reasons_replay": 30,
    "semver_order": 4000,
    "validation": 1500,
}
_ELSE: Final = 100
_UNAVAILABLE: Final = 3


def main() -> int:
    """Compare every channel of the releases, run every target; 1 for any difference, 2 where upstream cannot be run."""
    failed = _against_upstream()
    codes: dict[str, int] = {}
    for name in ("engines", *names()):
        codes |= run_each([name], CASES_OF.get(name, _ELSE), SEED)
    broken = sorted(name for name, code in codes.items() if code not in (0, _UNAVAILABLE))
    print(f"{len(codes)} targets, broken: {', '.join(broken) or 'none'}")
    if broken or failed:
        return 1
    return 2 if failed is None else 0


def _against_upstream() -> int | None:
    """Return how many answers differ from upstream's; None where it cannot be asked."""
    passed = failed = 0
    for release in RELEASES:
        try:
            with Oracle(release) as oracle:
                for channel in CHANNELS:
                    found = run(Dialect(release, channel, selector_switch=True), oracle, seed=SEED, cases=CASES)
                    print(found.line(), flush=True)
                    failed += len(found.differences)
                    passed += found.coverage.cases - len(found.differences)
        except OracleUnavailable as error:
            print(f"skipped: {error}")
            return None
    print(f"{passed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
