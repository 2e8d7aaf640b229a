"""
What the benchmarks are to come to, and whether the recorded lines do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

Json = dict[str, Any]
Recorded = Mapping[str, Sequence[Json]]


class Target(NamedTuple):
    """A figure of one case: `limit` is the most it may be, or the least where `more` is better."""

    about: str
    program: str
    case: str
    figure: Callable[[Sequence[Json]], Iterator[float]]
    limit: float
    more: bool = False


def _ours(name: str) -> Callable[[Sequence[Json]], Iterator[float]]:
    return lambda lines: (float(line[name]) for line in lines if line.get("runner") == "ours" and name in line)


def _ratio(lines: Sequence[Json]) -> Iterator[float]:
    return (float(line["value"]) for line in lines if "ratio_of_cpu" in line)


def _against_go(processors: str) -> Callable[[Sequence[Json]], Iterator[float]]:
    """Return the ratio to Go on one processor, or ("all") on more."""
    one = "upstream-1proc / ours"
    return lambda lines: (
        float(line["value"]) for line in lines if "ratio" in line and (line["ratio"] == one) == (processors == "one")
    )


def _on(fleet: str) -> Callable[[Sequence[Json]], Iterator[float]]:
    """Return the ratio to Go on a fleet, allocations included."""
    return lambda lines: (float(line["value"]) for line in lines if "ratio" in line and line["fleet"] == fleet)


#: The least that Go's time is to be over ours, by workload of `workloads.py`.
_LEAST: Final = {
    "filter_40_selectors": 1.5,
    "place_1000_selectors": 1,
    "filter_shares": 2,
    "loop_shares": 10,
    "filter_all": 2,
    "filter_new_question": 1.5,
    "first_call": 1,
    "partitions_half_held": 3,
    "claims_of_3_drivers": 3,
}

TARGETS: Final = (
    Target("whatif_5k: first answer after the load, s", "fleet", "whatif_5k", _ours("cpu_s"), 0.15),
    Target("whatif_5k: Go on one processor / ours", "fleet", "whatif_5k", _against_go("one"), 50, more=True),
    Target("whatif_5k: Go on all processors / ours", "fleet", "whatif_5k", _against_go("all"), 20, more=True),
    Target("whatif_shared: Go on one processor / ours", "fleet", "whatif_shared", _against_go("one"), 50, more=True),
    Target("autoscaler_shape: first answer after the load, s", "fleet", "autoscaler_shape", _ours("cpu_s"), 0.3),
    Target("filter_1_of_8, warm, with results, us", "fleet", "filter_1_of_8", _ours("with_results_us"), 30),
    Target("filter_8_of_8, warm, with results, us", "fleet", "filter_8_of_8", _ours("with_results_us"), 30),
    Target("filter_2_numa, warm, with results, us", "fleet", "filter_2_numa", _ours("with_results_us"), 30),
    Target("5,000 slices from JSON, s", "load", "load_json", _ours("best_cpu_s"), 1.0),
    Target("5,000 slices from JSON, peak MB", "load", "load_json", _ours("peak_mb"), 400),
    Target("5,000 slices from JSON: plain pydantic models / ours", "load", "load_json", _ratio, 4, more=True),
    Target("5,000 slices from a snapshot, s", "load", "load_snapshot", _ours("best_cpu_s"), 0.1),
    Target("5,000 slices from YAML: PyYAML's C loader / ours", "load", "load_yaml_5k", _ratio, 2, more=True),
    Target("5,000 slices from YAML, peak MB", "load", "load_yaml_5k", _ours("peak_mb"), 250),
    Target("check of 200 workloads on 1,000 nodes / its load", "check", "check_1000x200", _ours("to_load"), 2),
    Target("the same, all of which fit / its load", "check", "check_1000x200_all_fit", _ours("to_load"), 2),
    Target(
        "check of 40 workloads on 500 nodes, 22 refused with reasons, s",
        "check",
        "check_500x40_many_refused",
        _ours("check_s"),
        2,
    ),
    Target("check of 1,000 workloads on 5,000 nodes, s", "check", "check_5000x1000", _ours("check_s"), 15),
    Target("one slice changed, answer again, median ms", "incremental", "incremental_slice", _ours("median_ms"), 1.0),
    *(
        Target(f"{case}, {fleet}: Go / ours", "workloads", case, _on(fleet), limit, more=True)
        for case, limit in _LEAST.items()
        for fleet in ("uniform", "different")
    ),
)


def verdicts(recorded: Recorded) -> Iterator[tuple[Target, float, bool]]:
    """Yield each target that was measured, its best figure, and whether that meets it."""
    for target in TARGETS:
        lines = [line for line in recorded[target.program] if line.get("case") == target.case]
        figures = list(target.figure(lines))
        if figures:
            best = max(figures) if target.more else min(figures)
            yield target, best, best >= target.limit if target.more else best <= target.limit
