"""
What does a selector cost to compile, and on each of 40,000 devices of six models?

    python benchmarks/cel.py [--devices 40000] [--rounds 5]

All take turns in one process or, upstream's Go, in one that waits meanwhile;
figures are processor time in microseconds, the least of all rounds: other work on
the machine only adds. Ours is asked in four ways:

* direct: one device after the other;
* cold: all devices by columns that are made for it, nothing known;
* columns known: another selector that reads the same, so that rows are put
  together and each is evaluated once;
* warm: a selector that was asked before.

A peer that cannot take a selector says why; each is asked of as many devices as
keep it busy for a moment. Without Go or a package that peer is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import starmap
from pathlib import Path
from typing import Any, Final, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.cel_cases import SELECTORS, fleet
from dra_alloc import cel
from dra_alloc.api import DeviceAttribute, Quantity
from dra_alloc.cel.environments import declarations
from fuzz.cel import cel_expr
from fuzz.oracle_build import OracleUnavailable, build

Json = dict[str, Any]
RELEASE: Final = "1.36.6"
_COMPILES: Final = 20
#: What is asked for by the project's own plan; told with each line, so that a reader need not look it up.
TARGETS: Final = {"warm_us": 0.35, "direct_us": 3.0, "compile_us": 500.0, "go_to_warm": 10.0}


class Unable(Exception):
    """A peer cannot take a selector."""


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of a call in microseconds."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e6


class Native:
    """Ours, in the ways in which it can be asked."""

    name = "native"

    def __init__(self, devices: list[cel.CelDevice]) -> None:
        self._devices = devices
        self._environment = cel.environment(RELEASE)
        self._declared = declarations(self._environment.settings)

    def measure(self, expression: str) -> Json:
        """Return one round."""
        program = cel.Program(expression, self._declared)
        compiling = timed(lambda: [cel.Program(expression, self._declared) for _ in range(_COMPILES)]) / _COMPILES
        count = len(self._devices)
        direct = timed(lambda: [program.matches(each) for each in self._devices]) / count
        columns = cel.DeviceColumns(self._devices)
        cold = timed(lambda: columns.outcomes(program)) / count
        warm = timed(lambda: columns.outcomes(program)) / count
        another = cel.Program(expression, self._declared)
        again = cel.DeviceColumns(self._devices, columns.interner)
        for read in program.reads:
            again.column(read)
        known = timed(lambda: again.outcomes(another)) / count
        found = columns.outcomes(program)
        return {
            "compile_us": compiling,
            "direct_us": direct,
            "cold_us": cold,
            "columns_known_us": known,
            "warm_us": warm,
            "rows": len({*columns.interner.answers(program)}),
            "matching": sum(each is True for each in found) / count,
        }


class CelExpr:
    """cel-expr-python; making the values of a device is in its time, as it is in upstream's."""

    name = "cel-expr-python"

    def __init__(self, devices: list[cel.CelDevice], count: int) -> None:
        self._devices = devices[:count]
        cel_expr.compile_selector("true")

    def measure(self, expression: str) -> Json:
        """Return one round."""
        try:
            selector = cel_expr.compile_selector(expression)
        except cel_expr.CelExprError as error:
            raise Unable(str(error).splitlines()[0]) from None
        compiling = timed(lambda: [cel_expr.compile_selector(expression) for _ in range(_COMPILES)]) / _COMPILES
        found: list[bool] = []

        def ask() -> None:
            found.extend(selector(cel_expr.device_data(each)) for each in self._devices)

        return {
            "compile_us": compiling,
            "device_us": timed(ask) / len(self._devices),
            "matching": sum(found) / len(found),
        }


class Upstream:
    """kube-scheduler's own compiler and `DeviceMatches`, in a process of their own."""

    name = "upstream"

    def __init__(self, devices: list[Json], count: int) -> None:
        program = [build(RELEASE, "selectors")]
        self._child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._count = min(count, len(devices))
        self._ask({"devices": devices[: self._count]})

    def _ask(self, question: Json) -> Json:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(question) + "\n")
        self._child.stdin.flush()
        answer: Json = json.loads(self._child.stdout.readline())
        return answer

    def measure(self, expression: str) -> Json:
        """Return one round."""
        found = self._ask({"expr": expression, "compile": _COMPILES, "rounds": 1})
        figures = {key: found[key] for key in ("compile_us", "device_us")}
        return {**figures, "matching": found["matching"] / self._count}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *gone: object) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(10)
        self._child.stdout.close()


def prepared(device: Json) -> cel.CelDevice:
    """Return a device as our engine takes it."""
    return cel.prepare_device(
        device["driver"],
        {name: DeviceAttribute.from_wire(value) for name, value in device["attributes"].items()},
        {name: Quantity.parse(amount) for name, amount in device["capacity"].items()},
        None,
        cel.Reading(lists=False),
    )


def runners(raw: list[Json], devices: list[cel.CelDevice]) -> Iterator[Any]:
    """Yield ours and every peer that is there; say of the others why they are not."""
    yield Native(devices)
    makers: dict[str, Callable[[], Any]] = {
        CelExpr.name: lambda: CelExpr(devices, 1_200),
        Upstream.name: lambda: Upstream(raw, 1_200),
    }
    for name, make in makers.items():
        try:
            yield make()
        except (OracleUnavailable, cel_expr.CelExprUnavailable) as reason:
            print(json.dumps({"benchmark": "cel", "left_out": name, "why": str(reason)[:200]}))


def line(selector: str, rounds: list[dict[str, Json]]) -> Json:
    """Return the least of some rounds, and ratios to ours."""
    least: dict[str, Json] = {}
    for name, first in rounds[0].items():
        if "unable" in first:
            least[name] = first
            continue
        least[name] = {key: _short(min(each[name][key] for each in rounds)) for key in first}
    ours = least["native"]
    ratios = {}
    for name, figures in least.items():
        if "device_us" in figures:
            ratios[f"{name}_to_direct"] = _short(figures["device_us"] / ours["direct_us"])
            ratios[f"{name}_to_warm"] = _short(figures["device_us"] / ours["warm_us"])
            ratios[f"{name}_compile_to_ours"] = _short(figures["compile_us"] / ours["compile_us"])
    met = {name: ours[name] <= most for name, most in TARGETS.items() if name in ours}
    if "upstream_to_warm" in ratios:
        met["go_to_warm"] = ratios["upstream_to_warm"] >= TARGETS["go_to_warm"]
    return {"benchmark": "cel", "selector": selector, **least, "ratios": ratios, "targets_met": met}


def _short(number: float) -> float:
    return float(f"{number:.3g}")


def turn(peers: list[Any], expression: str) -> dict[str, Json]:
    """Return what each measures, one after the other."""
    found = {}
    for peer in peers:
        try:
            found[peer.name] = peer.measure(expression)
        except Unable as reason:
            found[peer.name] = {"unable": str(reason)[:120]}
    return found


def main() -> None:
    """Print one line per selector."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    raw = fleet(options.devices)
    start = time.process_time()
    devices = list(map(prepared, raw))
    preparing = (time.process_time() - start) * 1e6 / len(devices)
    print(json.dumps({"benchmark": "cel", "devices": len(devices), "prepare_us": _short(preparing)}), flush=True)
    peers = list(runners(raw, devices))
    try:
        for name, expression in SELECTORS.items():
            rounds = list(starmap(turn, [(peers, expression)] * options.rounds))
            print(json.dumps(line(name, rounds)), flush=True)
    finally:
        for peer in peers:
            if isinstance(peer, Upstream):
                peer.__exit__()


if __name__ == "__main__":
    main()
