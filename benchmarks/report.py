"""
Writes docs/reference/performance.md and its plots from the recorded lines of the benchmarks.

    python benchmarks/fleet.py > benchmarks/results/fleet.jsonl
    python benchmarks/report.py --write     # without: 1 if the page is not what the lines give

The lines in `benchmarks/results/` are those of one machine on one day; the page shows
ratios and counts, which travel, and seconds only beside them. Plots need matplotlib.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.targets import verdicts

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "reference" / "performance.md"
PLOTS = PAGE.parent / "plots"
Json = dict[str, Any]

_HEAD: Final = """\
# Performance

Written by `python benchmarks/report.py --write` from the lines in `benchmarks/results/`, which the programs in
`benchmarks/` print. Every comparison ran interleaved on one machine, so ratios mean something elsewhere; seconds are
processor seconds of that machine, and were taken while it was busy with other work. The peer is upstream's own Go
allocator of 1.36.6, called as kube-scheduler calls it: one allocator a pod, one call a node.

## What it costs

- Loading a dump: linear in its bytes.
- The first question to a cluster: linear in its slices, which are looked at once. Then one search for every distinct
  state of a node's devices as the claims see them, however many nodes are in that state.
- Another question that reads the same attributes: one look-up a node; the same question again: next to nothing.
- `Cluster.place`: one look-up a pod, and for every node that changed one for each distinct question.
- A changed slice or claim: the nodes it concerns are looked at again.
- Past 16 devices a node nothing changes: devices are bits of one number, and only states that are met are kept, so
  those that could be are never listed.
"""
_WHOLE: Final = """\
`whatif_5k`: 1,000 pods on 5,000 nodes of 8 devices, a third of them held. `whatif_shared`: also 10 pools of
1,024 devices that every node sees. `autoscaler_shape`: 20,000 devices held, 500 pods. Of several rounds the best
is shown. The last columns say how much longer Go takes than the first answer, in processor time a pod, as if its
processors shared the work evenly; * where it was stopped before the end, + where both finished and chose the same
nodes and devices.
"""
_WORKLOADS: Final = """\
Questions that Go answers well, on a uniform fleet and on one in which every device is different, each asked for the
first time. Go, one processor, always makes allocations: its time over ours is shown with all allocations put together,
the median of the rounds and the least, and for answers alone (which nodes fit). `loop_shares` takes the first node of
each answer, whose allocation alone is put together. Loading is the very dump's; = where both gave the same devices and
amounts, * where Go was stopped.
"""
_CHANGES: Final = """\
5,000 nodes; one slice or claim changes and the question is asked again. The first claim that changes in a
cluster's life costs {} ms more: who holds which device is then written down.
"""
_MILLION: Final = """\
{devices:,} devices in {input_mb} MB of JSON: loaded in {load_s} s, {pods:,} pods answered in {first_s} s, once
more in {again_s} s; {peak:.1f} GB of memory at the most.
"""
_CHECKS: Final = """\
`dra-alloc check` of workloads of one pod each, cold: its files are read from JSON, and the answer is written as JSON
with every refusal and its reasons. The last columns are all of it over the load alone, and the memory of the process.
Of several rounds the best is shown.
"""
_CURVES: Final = {
    "nodes": "nodes of 8 devices, 1,000 pods",
    "claims": "pods with one claim each, on 2,000 nodes of 8 devices",
    "devices": "devices on each of 500 nodes, 300 pods",
}
_MEASURES: Final = {"load_s": "load", "first_s": "first answer, with the index", "again_s": "the same question again"}


def lines(name: str) -> list[Json]:
    """Return the recorded lines of a program, in order."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    written = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in written) + "\n"


def page() -> str:
    """Return the page."""
    parts = [
        _HEAD,
        _targets(),
        _loading(),
        _fleet(),
        _workloads(),
        _single_calls(),
        _checks(),
        _changes(),
        _million(),
        _growth(),
    ]
    return "\n".join(part for part in parts if part)


def _targets() -> str:
    """Return what was aimed at and what came of it, misses too."""
    recorded = {name: lines(name) for name in ("fleet", "workloads", "load", "incremental", "check")}
    rows = [
        [target.about, f"{'>=' if target.more else '<='} {target.limit:g}", f"{value:.4g}", "yes" if met else "**no**"]
        for target, value, met in verdicts(recorded)
    ]
    if not rows:
        return ""
    text = "What was aimed at, on a machine that does nothing else, and what the lines below, of a busy one, come to.\n"
    return f"## Targets\n\n{text}\n{table(['figure', 'target', 'measured', 'met'], rows)}"


def _loading() -> str:
    found = lines("load")
    rows = []
    for ratio in (line for line in found if "value" in line):
        mine, peer = (line for line in found if line["case"] == ratio["case"] and "runner" in line)
        size = f"{mine['slices']:,} slices, {mine['mb']} MB"
        spent = [f"{each['best_cpu_s']} s, {each['peak_mb']} MB" for each in (mine, peer)]
        rows.append([ratio["case"], size, spent[0], peer["runner"], spent[1], _times(ratio["value"])])
    if not rows:
        return ""
    head = ["case", "input", "ours, with peak", "peer", "its time and peak", "peer / ours"]
    return f"## Loading\n\nSlices of 8 devices with 15 attributes each.\n\n{table(head, rows)}"


def _fleet() -> str:
    found = [line for line in lines("fleet") if not line["case"].startswith("filter")]
    rows = []
    for case in dict.fromkeys(line["case"] for line in found):
        runs = [line for line in found if line["case"] == case and line.get("runner") == "ours"]
        mine = min(runs, key=lambda line: float(line["cpu_s"]))
        ratios = [line for line in found if line["case"] == case and "ratio" in line]
        peers = [_times(line["value"]) + _finished(found, case, line) for line in ratios]
        counts = f"{mine['boards']} / {mine['searches']}"
        spent = [mine["cpu_s"], mine["again_s"], mine["results_s"]]
        rows.append([case, mine["pods"], *spent, counts, *peers])
    if not rows:
        return ""
    head = [
        "case",
        "pods",
        "first answer, s",
        "again, s",
        "results, s",
        "boards / searches",
        "Go, 1 processor",
        "Go, all",
    ]
    return f"## Whole clusters\n\n{_WHOLE}\n{table(head, rows)}"


def _workloads() -> str:
    found = lines("workloads")
    rows = []
    for ratio in (line for line in found if "ratio" in line):
        about = ratio["case"], ratio["fleet"]
        runs = [line for line in found if "runner" in line and (line["case"], line["fleet"]) == about]
        mine, peer = ([run for run in runs if (run["runner"] == "ours") is own] for own in (True, False))
        spent = [min(run[key] for run in mine) for key in ("load_s", "answer_s", "cpu_s")]
        memory = f"{max(run['peak_mb'] for run in mine)} / {max(run['peak_mb'] for run in peer)}"
        equal = {None: "*", True: "=", False: "DIFFERENT"}[ratio["same_answer"]]
        value = f"{ratio['value']:.2f}x ({ratio['least']:.2f}) {equal}"
        rows.append(
            [*about, *spent, min(run["cpu_s"] for run in peer), value, f"{ratio['without_results']:.2f}x", memory]
        )
    if not rows:
        return ""
    head = ["workload", "fleet", "load, s", "answers, s", "with allocations, s", "Go, s"]
    head += ["Go / ours (least)", "answers alone", "peak MB, ours / Go"]
    return f"## Workloads that Go answers well\n\n{_WORKLOADS}\n{table(head, rows)}"


def _times(value: float) -> str:
    return f"{value:.0f}x" if value >= 10 else f"{value:.1f}x"


def _finished(found: Sequence[Json], case: str, ratio: Json) -> str:
    return {None: " *", True: " +", False: " DIFFERENT"}[ratio["same_answer"]]


def _single_calls() -> str:
    found = [line for line in lines("fleet") if line["case"].startswith("filter")]
    rows = []
    for case in dict.fromkeys(line["case"] for line in found):
        runs = [line for line in found if line["case"] == case and "runner" in line]
        ours = [line for line in runs if line["runner"] == "ours"]
        theirs = [float(line["p50_us"]) for line in runs if line["runner"] == "upstream-1proc"]
        answer, results, first = (
            min(float(line[name]) for line in ours) for name in ("p50_us", "with_results_us", "first_results_us")
        )
        ratio = _times(min(theirs) / results) if theirs else "-"
        rows.append([case, answer, results, min(theirs, default="-"), ratio, first])
    if not rows:
        return ""
    head = ["question", "answer, us", "with results, us", "Go, us", "Go / ours with results", "first results, us"]
    text = (
        "One question to one node of 8 devices, warm, in us, each figure that of its best round; last, the first\n"
        "results on a node.\n"
    )
    return f"## Single calls\n\n{text}\n{table(head, rows)}"


def _checks() -> str:
    found = lines("check")
    if not found:
        return ""
    head = ["nodes x workloads", "allocated", "load, s", "check, s", "both / load", "peak, MB"]
    rows = []
    for case in dict.fromkeys(line["case"] for line in found):
        each = min((line for line in found if line["case"] == case), key=lambda line: float(line["to_load"]))
        name, count = case.removeprefix("check_").replace("_", " "), f"{each['allocated']} of {each['asked']}"
        rows.append([name, count, each["load_s"], each["check_s"], each["to_load"], each["peak_mb"]])
    return f"## Checks\n\n{_CHECKS}\n{table(head, rows)}"


def _changes() -> str:
    found = lines("incremental")
    if not found:
        return ""
    head = ["what changes", "answer again, median ms", "worst of 50, ms", "load and first answer / median"]
    rows = []
    for each in found:
        changed, ratio = each["case"].removeprefix("incremental_"), f"{each['reload_to_median']:,}x"
        rows.append([changed, each["median_ms"], each["worst_ms"], ratio])
    return f"## Changes\n\n{_CHANGES.format(found[0]['first_claim_ms'])}\n{table(head, rows)}"


def _million() -> str:
    found = lines("million")
    if not found:
        return ""
    line = found[-1]
    return "## A million devices\n\n" + _MILLION.format(**line, peak=line["peak_mb"] / 1000)


def _growth() -> str:
    found = lines("curves")
    if not found:
        return ""
    text = ["## Growth\n", "Fitted exponents; the benchmark fails where one is beyond what is allowed.\n"]
    fitted = [line for line in found if "exponent" in line]
    rows = [[each["curve"], _MEASURES[each["measure"]], each["exponent"], each["limit"]] for each in fitted]
    text.append(table(["along", "cost", "exponent", "allowed"], rows))
    for name, about in _CURVES.items():
        points = [line for line in found if line["curve"] == name and "x" in line]
        if points:
            head = [name, *(f"{measure}, s" for measure in _MEASURES.values()), "boards", "searches"]
            rows = [[each["x"], *(each[key] for key in _MEASURES), each["boards"], each["searches"]] for each in points]
            text += [f"### {name.capitalize()}\n", f"![Cost by {about}](plots/{name}.svg)\n", table(head, rows)]
    return "\n".join(text)


def draw() -> None:
    """Write a plot a curve, the same bytes for the same lines."""
    import matplotlib as mpl  # noqa: PLC0415 - only whoever writes the page needs it

    mpl.use("svg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - as above

    mpl.rcParams["svg.hashsalt"] = "dra-alloc"
    PLOTS.mkdir(exist_ok=True)
    for name, about in _CURVES.items():
        points = [line for line in lines("curves") if line["curve"] == name and "x" in line]
        if not points:
            continue
        figure, axes = plt.subplots(figsize=(6, 3.6))
        for key, label in _MEASURES.items():
            axes.loglog([each["x"] for each in points], [max(each[key], 1e-4) for each in points], "o-", label=label)
        axes.set_xlabel(about)
        axes.set_ylabel("processor seconds")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(frameon=False, fontsize="small")
        figure.tight_layout()
        figure.savefig(PLOTS / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


def main() -> int:
    """Write the page, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
        draw()
        return 0
    if PAGE.read_text(encoding="utf-8") != page():
        print("docs/reference/performance.md is not what benchmarks/results gives: python benchmarks/report.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
