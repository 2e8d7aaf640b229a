"""
The command: keeps a control plane running, records worlds, compares what was recorded, or all at once.

    python -m fuzz.plane serve --release 1.37
    python -m fuzz.plane record --release 1.37 --seed 1 --worlds 20 --flavour mixed --out FOLDER
    python -m fuzz.plane record --replay WORLD.json --out FILE.jsonl.gz
    python -m fuzz.plane compare FOLDER --record FILE
    python -m fuzz.plane fuzz --release 1.36 --seed 1 --worlds 150 --keep FOLDER --record FILE
"""

from __future__ import annotations

import argparse
import gzip
import json
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fuzz.oracle_build import OracleUnavailable
from fuzz.plane.comparing import Tally, compare
from fuzz.plane.drawing import FLAVOURS, ON_REQUEST, draw_world
from fuzz.plane.programs import Plane
from fuzz.plane.running import Runner
from fuzz.plane.state import recorded
from fuzz.recording import Record, add_option, append

Json = dict[str, Any]
UNAVAILABLE = 3
_PACKED = ".jsonl.gz"


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 for any difference, 3 where there is no Go."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.verb == "compare":
        return _compare(options)
    gates = {name: on == "true" for name, _, on in (each.partition("=") for each in options.gate)}
    try:
        with Plane(options.release, gates) as plane:
            return {"serve": _serve, "record": _record, "fuzz": _fuzz}[options.verb](plane, options)
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return UNAVAILABLE


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.plane")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("serve", "record", "fuzz"):
        made = verbs.add_parser(verb)
        made.add_argument("--release", default="1.37")
        made.add_argument("--gate", action="append", default=[], metavar="NAME=true")
        if verb == "serve":
            continue
        made.add_argument("--seed", type=int, default=1)
        made.add_argument("--start", type=int, default=0, metavar="NUMBER")
        made.add_argument("--worlds", type=int, default=10, help="of each flavour that is named")
        made.add_argument(
            "--flavour", action="append", choices=[*FLAVOURS, *ON_REQUEST, "mixed"], help="default: a mix of all"
        )
        made.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="worlds to run again, instead")
    verbs.choices["record"].add_argument("--out", type=Path, required=True, metavar=f"FOLDER_OR_FILE{_PACKED}")
    verbs.add_parser("compare").add_argument("worlds", type=Path, nargs="+", metavar="FILE_OR_FOLDER")
    for verb in ("fuzz", "compare"):
        verbs.choices[verb].add_argument("--keep", type=Path, metavar="FOLDER", help="keep worlds that differ")
        add_option(verbs.choices[verb])
    return parser.parse_args(arguments)


def _serve(plane: Plane, _options: argparse.Namespace) -> int:
    print(f"kubeconfig: {plane.folder / 'kubeconfig.json'}; interrupt to end", flush=True)
    signal.pause()
    return 0


def _worlds(options: argparse.Namespace) -> Iterator[Json]:
    if options.replay:
        for path in options.replay:
            yield {"name": path.stem, "flavour": "replayed", **json.loads(path.read_text(encoding="utf-8"))}
        return
    for number in range(options.start, options.start + options.worlds):
        for flavour in options.flavour or [None]:
            yield draw_world(options.seed, number, flavour)


def _run(plane: Plane, options: argparse.Namespace) -> Iterator[Json]:
    """Yield the worlds with what ran, and tell of each."""
    runner = Runner(plane)
    for world in _worlds(options):
        ran = runner.run(world)
        print(f"{ran['name']}: {ran.get('unsettled') or ran['ran']} {ran.get('seconds', '-')} s", flush=True)
        yield ran


def _record(plane: Plane, options: argparse.Namespace) -> int:
    if options.out.name.endswith(_PACKED):
        with gzip.open(options.out, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(ran, separators=(",", ":")) + "\n" for ran in _run(plane, options))
        return 0
    for ran in _run(plane, options):
        _keep(ran, options.out)
    return 0


def _keep(ran: Json, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{ran['name']}.json").write_text(json.dumps(ran), encoding="utf-8")


def _fuzz(plane: Plane, options: argparse.Namespace) -> int:
    return _compared(_run(plane, options), options)


def _compare(options: argparse.Namespace) -> int:
    return _compared((world for path in options.worlds for world in recorded(path)), options)


def _compared(worlds: Iterable[Json], options: argparse.Namespace) -> int:
    """Compare worlds with what this package answers, tell the differences, and record the figures by seed."""
    tallies: dict[tuple[str, str, int], Tally] = {}
    for world in worlds:
        gates = ", ".join(f"{name}={str(on).lower()}" for name, on in world["gates"].items())
        wrong = compare(world, tallies.setdefault((world["release"], gates, world.get("seed", 0)), Tally()))
        for each in wrong:
            print(f"{each.world}: {each.kind}: {each.text}", flush=True)
        if wrong and options.keep:
            _keep(world, options.keep)
    for (release, gates, seed), tally in tallies.items():
        print(f"{release} {gates} seed {seed}: {tally.table()}")
        made = Record(
            tool="control_plane",
            release=release,
            setting=gates,
            seed=seed,
            cases=tally.worlds,
            differences=tally.broken,
            seen={**tally.agreed, "unsettled": tally.unsettled},
            seconds=tally.seconds,
        )
        append(options.record, made)
    return int(any(tally.differences for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
