"""
How fast a dump loads, against plain pydantic models and PyYAML's C loader, in one run.

    python benchmarks/load.py                # 5,000 slices from JSON, 1,000 from YAML
    python benchmarks/load.py --slices 500
    python benchmarks/load.py --case load_yaml_5k --rounds 1    # 5,000 slices from YAML, minutes

Prints one JSON line for each runner (best and median of the rounds, peak
memory) and one for each ratio, of processor time: other work on the machine
is not in it. Every measurement is a fresh process, and the
runners take turns, so that a noisy machine is noisy for all.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Each runner imports its own library only, inside its function: the others' memory is not its own.
sys.path.insert(0, str(Path(__file__).parent.parent))


def ours(path: Path) -> int:
    from dra_alloc.manifest import load  # noqa: PLC0415

    return len(load([path]).slices)


def from_json(path: Path) -> int:
    """Load the dump that a snapshot was made of."""
    return ours(path.with_suffix(".json"))


def plain_pydantic(path: Path) -> int:
    from benchmarks.plain_models import ResourceSliceList  # noqa: PLC0415

    return len(ResourceSliceList.model_validate_json(path.read_bytes()).items)


def pyyaml_c(path: Path) -> int:
    import yaml  # noqa: PLC0415

    with path.open("rb") as file:
        return len(yaml.load(file, Loader=yaml.CSafeLoader)["items"])


RUNNERS: dict[str, Callable[[Path], int]] = {
    "ours": ours,
    "ours-from-json": from_json,
    "plain-pydantic": plain_pydantic,
    "pyyaml-csafeloader": pyyaml_c,
}
#: Takes PyYAML minutes: only when asked for.
SLOW = {"load_yaml_5k"}
#: case -> (format, our peer, share of the slices: the YAML peer is slow)
CASES = {
    "load_json": ("json", "plain-pydantic", 1.0),
    "load_json_kubectl": ("kubectl", "plain-pydantic", 1.0),
    "load_yaml": ("yaml", "pyyaml-csafeloader", 0.2),
    "load_yaml_5k": ("yaml", "pyyaml-csafeloader", 1.0),
    "load_snapshot": ("snapshot", "ours-from-json", 1.0),
}


def measure(runner: str, path: Path) -> dict[str, Any]:
    """Load once and say what it cost; the import of the runner's library is not in the time."""
    small = path.with_name("warm" + path.suffix)
    RUNNERS[runner](small)
    start, cpu = time.perf_counter(), time.process_time()
    count = RUNNERS[runner](path)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak, "slices": count}


def generate(path: Path, slices: int, form: str) -> None:
    script = Path(__file__).with_name("generate.py")
    if form == "snapshot":
        dump = path.with_suffix(".json")
        generate(dump, slices, "json")
        subprocess.run(
            [sys.executable, "-m", "dra_alloc", "snapshot", "pack", dump, "-o", path],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return
    subprocess.run([sys.executable, script, path, "--slices", str(slices), "--format", form], check=True)


def rounds(path: Path, peer: str, count: int) -> dict[str, list[dict[str, Any]]]:
    results: dict[str, list[dict[str, Any]]] = {"ours": [], peer: []}
    for _ in range(count):
        for runner, measured in results.items():
            command = [sys.executable, __file__, "--measure", runner, str(path)]
            measured.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    return results


def run(slices: int, count: int, chosen: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            form, peer, share = CASES[case]
            path = Path(folder) / f"dump.{form.replace('kubectl', 'json')}"
            size = max(1, int(slices * share))
            # In processes of their own: a child's peak memory starts at its parent's.
            generate(path, size, form)
            generate(path.with_name("warm" + path.suffix), 1, form)
            results = rounds(path, peer, count)
            best: dict[str, float] = {}
            for runner, measured in results.items():
                seconds = [one["seconds"] for one in measured]
                best[runner] = min(one["cpu"] for one in measured)
                report = {
                    "case": case,
                    "runner": runner,
                    "slices": size,
                    "mb": round(path.stat().st_size / 1e6, 1),
                    "best_s": round(min(seconds), 3),
                    "best_cpu_s": round(best[runner], 3),
                    "median_s": round(statistics.median(seconds), 3),
                    "peak_mb": max(one["peak_mb"] for one in measured),
                }
                print(json.dumps(report), flush=True)
            print(
                json.dumps(
                    {"case": case, "ratio_of_cpu": f"{peer} / ours", "value": round(best[peer] / best["ours"], 2)}
                )
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=sorted(CASES), action="append")
    parser.add_argument("--measure", nargs=2, metavar=("RUNNER", "PATH"), help="one measurement, for the runs above")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
    else:
        run(given.slices, given.rounds, given.case or [case for case in CASES if case not in SLOW])


if __name__ == "__main__":
    main()
