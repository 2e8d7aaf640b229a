"""
Every comparison and every target, bounded, the same cases every time, for continuous integration.

    python -m fuzz.run_ci

As many run side by side as there are processors, each in a process of its own; what they say comes in the same order
every time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fuzz.run_all import UNAVAILABLE, names

RELEASES: Final = ("1.34.13", "1.35.10", "1.36.2", "1.36.6", "1.37.2", "1.38.0-beta.0")
#: Of each release and channel.
CASES: Final = 300
SEED: Final = 20_261_128
#: Cases per target: a few seconds each.
CASES_OF: Final = {
    "add_and_remove": 60,
    "added_nodes": 8,
    "cel_second_opinions": 60,
    "cel_selectors": 600,
    "cel_syntax": 600,
    "changed_by_hand": 60,
    "changed_clusters": 12,
    "commented_files": 400,
    "control_plane": 20,
    "conversion": 3000,
    "determinism": 150,
    "dry_runs": 300,
    "dump_and_load": 100,
    "engines": 2000,
    "fewer_constraints": 600,
    "hostile_manifests": 150,
    "hostile_requests": 1500,
    "hostile_snapshots": 200,
    "many_askers": 1,
    "permuted_input": 400,
    "pod_fields": 1000,
    "pods_on_nodes": 500,
    "quantity_arithmetic": 5000,
    "quantity_upstream": 5000,
    "queue_rules": 6000,
    "reasons_hold": 60,
    "reasons_replay": 30,
    "same_bytes": 10,
    "semver_order": 4000,
    "validation": 1500,
}
_ELSE: Final = 100

Job = tuple[str, ...]


def _jobs() -> dict[str, Job]:
    """Return what to run, by name: module and arguments."""
    compared = {f"differential {each}": ("fuzz.differential", "--release", each) for each in RELEASES}
    targets = {name: (f"fuzz.targets.{name}",) for name in names()}
    jobs: dict[str, Job] = {**compared, "engines": ("fuzz.engines",), **targets}
    return {name: (*job, "--cases", str(_cases(name)), "--seed", str(SEED)) for name, job in jobs.items()}


def _cases(name: str) -> int:
    return CASES if name.startswith("differential") else CASES_OF.get(name, _ELSE)


def _run(job: Job) -> subprocess.CompletedProcess[str]:
    """Run one job to its end; what it says of errors stands among the rest."""
    return subprocess.run(
        [sys.executable, "-m", *job], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def main() -> int:
    """Run every job; 1 where one finds something or fails, 2 where what some of them need is not there."""
    jobs, codes = _jobs(), {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, done in zip(jobs, pool.map(_run, jobs.values()), strict=True):
            codes[name] = done.returncode
            print(done.stdout, end="", flush=True)
    broken = [name for name, code in codes.items() if code not in (0, UNAVAILABLE)]
    lacking = [name for name, code in codes.items() if code == UNAVAILABLE]
    print(f"{len(codes)} comparisons and targets, broken: {', '.join(broken) or 'none'}")
    if lacking:
        print(f"not run for want of what they need: {', '.join(lacking)}")
    if broken:
        return 1
    return 2 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
