"""
Time ``import dra_alloc`` against ``import pydantic`` in fresh processes, interleaved; one JSON object a line.

The two are measured in turn, so that a busy machine slows both alike; the ratio
is the figure to compare, the seconds are only this machine's. Each process
times the import statement alone, after interpreter start.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence

# Both packages load their parts on demand: `dra_alloc.scenario.snapshot` is what a program that loads a cluster
# pays, `pydantic.main` what one that defines a model pays.
SUBJECTS = ("dra_alloc", "dra_alloc.scenario.snapshot", "pydantic", "pydantic.main")
PROBE = """
import sys, time
begin = time.perf_counter()
import {module}
took = time.perf_counter() - begin
heavy = sorted({{name.partition(".")[0] for name in sys.modules}} & {{"numpy", "pandas", "ortools"}})
print(took, len(sys.modules), ",".join(heavy))
"""


def probe(module: str) -> tuple[float, int, str]:
    """Return the seconds, the number of loaded modules and any heavy package of one fresh import."""
    command = [sys.executable, "-c", PROBE.format(module=module)]
    took, modules, *heavy = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(took), int(modules), "".join(heavy)


def measure(rounds: int) -> list[dict[str, object]]:
    """Return one record a subject: median and spread over the rounds, after one unmeasured round."""
    seen: dict[str, list[tuple[float, int, str]]] = {module: [] for module in SUBJECTS}
    for number in range(rounds + 1):
        for module in SUBJECTS:
            result = probe(module)
            if number:
                seen[module].append(result)
    base = statistics.median(took for took, _, _ in seen["pydantic"])
    return [
        {
            "benchmark": "import",
            "module": module,
            "median_s": round(statistics.median(times := [took for took, _, _ in results]), 4),
            "min_s": round(min(times), 4),
            "max_s": round(max(times), 4),
            "ratio_to_pydantic": round(statistics.median(times) / base, 2),
            "modules": results[-1][1],
            "heavy": results[-1][2],
            "rounds": rounds,
            "python": platform.python_version(),
        }
        for module, results in seen.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the records; 1 where a heavy package was loaded or the limit is passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="fresh processes for each subject")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="fail if dra_alloc's fastest import is slower")
    options = parser.parse_args(arguments)
    records = measure(options.rounds)
    for record in records:
        print(json.dumps(record))
    ours = records[0]
    slow = options.limit is not None and float(str(ours["min_s"])) > options.limit
    return 1 if ours["heavy"] or slow else 0


if __name__ == "__main__":
    sys.exit(main())
