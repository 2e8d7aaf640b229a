"""
A bounded differential fuzz, the same cases every time, for continuous integration.

    python -m fuzz.run_ci
"""

from __future__ import annotations

import sys

from dra_alloc.testing.dialect import Dialect
from fuzz.differential import run
from fuzz.oracle import Oracle, OracleUnavailable

__all__ = ["main"]

RELEASES = ("1.36.2", "1.36.6")
CHANNELS = ("stable", "incubating", "experimental")
CASES = 400
SEED = 20_261_128


def main() -> int:
    """Compare every channel of the releases; 1 for any difference, 2 where upstream cannot be run."""
    passed = failed = 0
    for release in RELEASES:
        try:
            oracle = Oracle(release)
            for channel in CHANNELS:
                found = run(Dialect(release, channel), oracle, seed=SEED, cases=CASES)
                print(found.line(), flush=True)
                failed += len(found.differences)
                passed += found.coverage.cases - len(found.differences)
        except OracleUnavailable as error:
            print(f"skipped: {error}")
            return 2
    print(f"{passed} passed, {failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
