"""
Times what changes do to busy clusters: a pull request as a page, and many scenarios; one JSON object a line.

    python benchmarks/what_if.py [--case 500] [--sweep 1000]

Nodes of eight GPUs, six running pods a node, each with a claim. `wall_s` and `peak_mb` are those of the command
`what-if` from a packed dump to a page (`html`), imports and all, for a pull request of 40 workloads; `ten_to_one` is
the processor time of ten scenarios of a sweep in one process over that of one. With `--sweep`, so many
scenarios on 500 nodes: `to_answers` is the processor time of the whole command over that of the answers alone, in
one process that reads the dump once; `cores` the processor time over the time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.peak import peak_mb
from benchmarks.what_if_cases import changes, cluster, pull_request

Json = dict[str, Any]
#: Nodes, and pods that run on them.
CASES = {"500": (500, 3_000), "5000": (5_000, 30_000)}
_WORKLOADS = 40
_TEN = 10
_RELEASE = "1.37"  # DeviceTaintRules count


def _command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "dra_alloc", *arguments, "--cluster", str(folder / "c.snapshot")]


def _timed(command: Sequence[str]) -> tuple[float, float, int]:
    """Return the time on the clock, the processor time, and the peak of memory of a command and its children."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        done = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=os.environ)
        _, status, usage = os.wait4(done.pid, 0)
    wall = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"failed: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def prepared(name: str, folder: Path) -> None:
    """Write the packed dump of a case and what is asked of it."""
    nodes, pods = CASES[name]
    (folder / "c.json").write_text(json.dumps(cluster(nodes, pods)), encoding="utf-8")
    (folder / "pr.json").write_text(json.dumps(pull_request(_WORKLOADS, pods)), encoding="utf-8")
    pack = [sys.executable, "-m", "dra_alloc", "snapshot", "pack", str(folder / "c.json"), "-o"]
    subprocess.run([*pack, str(folder / "c.snapshot")], check=True, stdout=subprocess.DEVNULL)


def _scenarios(count: int, nodes: int, folder: Path) -> Path:
    """Write a file of a sweep."""
    file = folder / f"sweep{count}.json"
    scenarios = {f"s{number}": each for number, each in enumerate(changes(count, nodes))}
    file.write_text(json.dumps({"scenarios": scenarios}), encoding="utf-8")
    return file


def measure(name: str, folder: Path) -> Json:
    """Return the figures of a case."""
    wall, cpu, peak = _timed(_command(folder, "what-if", "-f", str(folder / "pr.json"), "--format", "html"))
    one, ten = (_alone(_scenarios(count, CASES[name][0], folder)) for count in (1, _TEN))
    return {
        "case": f"what_if_{name}",
        "runner": "ours",
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "peak_mb": peak,
        "one_cpu_s": one["cpu_s"],
        "ten_cpu_s": ten["cpu_s"],
        "ten_to_one": round(ten["cpu_s"] / one["cpu_s"], 2),
    }


def measure_sweep(count: int, folder: Path) -> Json:
    """Return the figures of many scenarios, with as many processes as there are processors."""
    sweep = _scenarios(count, CASES["500"][0], folder)
    alone = _alone(sweep)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = _command(folder, "what-if", "--sweep", str(sweep), "--release", _RELEASE, "--format", "json")
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "case": f"what_if_sweep_{count}x500",
        "runner": "ours",
        "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "answers_cpu_s": alone["cpu_s"],
        "to_answers": round(cpu / alone["cpu_s"], 2),
        "cores": round(cpu / wall, 2),
    }


def _alone(sweep: Path) -> Json:
    """Return what one process takes that answers all scenarios of a file."""
    command = [sys.executable, __file__, "--answers", str(sweep)]
    found: Json = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def answers(sweep: Path) -> Json:
    """Answer scenarios in this process, and say what that took, imports and all."""
    from dra_alloc.cluster.settings import Settings  # noqa: PLC0415 - as much as the command loads
    from dra_alloc.scenario.sweep.answering import answered  # noqa: PLC0415
    from dra_alloc.scenario.sweep.questions import SweepQuestion  # noqa: PLC0415

    scenarios = json.loads(sweep.read_text(encoding="utf-8"))["scenarios"]
    dump = (str(sweep.parent / "c.snapshot"),)
    for number, (name, steps) in enumerate(scenarios.items()):
        question = SweepQuestion(name, dump, steps, settings=Settings(_RELEASE))
        answered(number, question)
    return {"cpu_s": round(time.process_time(), 2), "peak_mb": peak_mb()}


def lines(options: argparse.Namespace) -> Iterator[Json]:
    """Yield the lines that are asked for."""
    for name in CASES if options.case is None else (options.case,):
        with tempfile.TemporaryDirectory() as folder:
            prepared(name, Path(folder))
            yield measure(name, Path(folder))
            if options.sweep and name == "500":
                yield measure_sweep(options.sweep, Path(folder))


def main() -> None:
    """Print a line a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--sweep", type=int, metavar="N", help="ask so many scenarios on 500 nodes, too")
    parser.add_argument("--answers", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answers is not None:
        print(json.dumps(answers(options.answers)))
        return
    for line in lines(options):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
