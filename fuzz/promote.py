"""
Makes a vector of a failing case, and asks upstream again what the vectors expect.

    python -m fuzz.promote CASE.json --name pools/two-in-one --statements POOL-4,POOL-5 [--shows TEXT]
    python -m fuzz.promote --refresh [--check] [spec/vectors/allocation/...]

CASE.json holds an allocate request, as `--shrink` prints it. Expected values of semantics `upstream` always come from
running upstream, at every release and channel that can be asked the question; what is intended is written by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from fuzz.oracle import Oracle
from fuzz.oracle_build import OracleUnavailable, resolve, versions
from spec.case import UNCOUNTED, VECTORS, Given, VectorError, load_case
from spec.layout import written

Json = dict[str, Any]
#: A release and a channel.
Place = tuple[str, str]

CHANNELS: Final = ("stable", "incubating", "experimental")
GIVEN: Final = ("node", "claims", "classes", "slices", "taintRules", "allocated", "allocatedShared", "aggregated")
#: Upstream is asked so often: where it is random, as with several pools, all its answers are wanted.
RUNS: Final = 16
RUNS_OF_ONE_POOL: Final = 2
TIMEOUT_MS: Final = 5000
_REFUSED: Final = ("no allocator available", "does not support", "has no ", "lacks")


def request_of(given: Mapping[str, Any]) -> Json:
    """Return the harness request for what a vector gives."""
    features = dict.fromkeys(given.get("features", ()), True)
    return {"timeoutMs": TIMEOUT_MS, "features": features, **{name: given[name] for name in GIVEN if given.get(name)}}


def recorded(given: Mapping[str, Any], places: Iterable[Place], oracles: Mapping[str, Oracle]) -> list[Json]:
    """Return what upstream answers at these places, equal answers in one entry; places that lack a feature left out."""
    groups: list[tuple[list[Json], dict[str, list[str]]]] = []
    # Those that count their steps first; the others join them where nothing else differs.
    for release, channel in sorted(places, key=lambda place: place in UNCOUNTED):
        answers = answers_of({**request_of(given), "channel": channel}, oracles[release])
        if answers:
            same = (at for known, at in groups if _counted_alike(known, answers))
            at = next(same, None)
            if at is None:
                at = {}
                groups.append((answers, at))
            at.setdefault(release, []).append(channel)
    return [{"at": _in_order(at), "answers": answers} for answers, at in groups]


def _in_order(at: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return releases and channels from old to new."""
    return {
        release: [channel for channel in CHANNELS if channel in at[release]]
        for release in versions("allocator")
        if release in at
    }


def _counted_alike(known: list[Json], answers: list[Json]) -> bool:
    if answers == known or any("steps" in each for each in answers):
        return answers == known
    return answers == [{key: value for key, value in each.items() if key != "steps"} for each in known]


def answers_of(request: Json, oracle: Oracle) -> list[Json]:
    """Return the different answers upstream gives; none if the channel does not know a feature."""
    pools = {json.dumps([each["spec"].get("driver"), each["spec"].get("pool")]) for each in request.get("slices", ())}
    runs = oracle.batch([request] * (RUNS if len(pools) > 1 else RUNS_OF_ONE_POOL))
    found = {json.dumps(_answer(raw), sort_keys=True) for raw in runs if not _refused(raw)}
    return [json.loads(each) for each in sorted(found)]


def _refused(raw: Json) -> bool:
    text = str(raw.get("bad") or raw.get("err") or "")
    if "bad" in raw and not any(word in text for word in _REFUSED):
        raise VectorError(f"upstream does not understand the question: {text}")
    return "bad" in raw or "no allocator available" in text


def _answer(raw: Json) -> Json:
    if "panic" in raw:
        return {"panics": raw["panic"]}
    if "crash" in raw or "timeout" in raw:
        raise VectorError(f"upstream does not answer: {raw}")
    if "operation aborted" in (raw.get("err") or ""):
        raise VectorError("upstream does not end within its time; make the question smaller")
    steps = {} if raw.get("n") is None else {"steps": raw["n"]}
    if raw.get("err"):
        return {"error": raw["err"], **({"onNode": True} if raw.get("onNode") else {}), **steps}
    if raw.get("results") is None:
        return {"cannot": True, **steps}
    return {"results": [_without_nothing(each) for each in raw["results"]], **steps}


def _without_nothing(value: Any) -> Any:
    """Return the value with share IDs, which are random, as `*`, and nothing empty; parameters as they are."""
    if isinstance(value, list):
        return [_without_nothing(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: "*" if key == "shareID" else inner if key == "parameters" else _without_nothing(inner)
        for key, inner in value.items()
    }
    return {key: inner for key, inner in kept.items() if inner not in (None, [], {})}


def promote(request: Mapping[str, Any], case: Json, places: Iterable[Place], oracles: Mapping[str, Oracle]) -> Json:
    """
    Return the vector that a request makes; `case` has `statements`, `shows` and perhaps what is intended.

    Raises: VectorError for a request that is no question to the allocator.
    """
    on = [name for name, value in (request.get("features") or {}).items() if value]
    given = {**({"features": sorted(on)} if on else {}), **{name: request[name] for name in GIVEN if request.get(name)}}
    try:
        Given.model_validate_json(json.dumps(given))
    except ValueError as error:
        raise VectorError(str(error)) from None
    intended = {"intended": case["intended"]} if case.get("intended") else {}
    head = {name: case[name] for name in ("statements", "shows", "traits") if case.get(name)}
    source = "k8s.io/dynamic-resource-allocation, the releases named"
    expected = {"upstream": recorded(given, places, oracles), **intended}
    return {**head, "source": source, "given": given, "expected": expected}


def _refresh(paths: list[Path], oracles: Mapping[str, Oracle], *, check: bool) -> int:
    """Ask again what the vectors expect; return how many changed."""
    changed = 0
    for path in paths:
        load_case(path)
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        places = sorted({place for entry in raw["expected"]["upstream"] for place in _places(entry["at"])}, key=_rank)
        found = recorded(raw["given"], places or everywhere(), oracles)
        if found != raw["expected"]["upstream"]:
            changed += 1
            print(f"{path}: {'differs' if check else 'written'}")
            raw["expected"] = {**raw["expected"], "upstream": found}
            if not check:
                path.write_text(written(raw), encoding="utf-8")
    return changed


def _places(at: Mapping[str, list[str]]) -> Iterator[Place]:
    return ((release, channel) for release, channels in at.items() for channel in channels)


def everywhere() -> list[Place]:
    """Return every release and channel that can be asked."""
    return [(release, channel) for release in versions("allocator") for channel in CHANNELS]


def _rank(place: Place) -> tuple[int, int]:
    return versions("allocator").index(place[0]), CHANNELS.index(place[1])


def _promote(options: argparse.Namespace, oracles: Mapping[str, Oracle]) -> int:
    request = json.loads(options.paths[0].read_text(encoding="utf-8"))
    case = {"statements": options.statements.split(","), "shows": options.shows or f"found by fuzzing: {options.name}"}
    wanted = [resolve(each, "allocator") for each in options.release or ()]
    places = [place for place in everywhere() if not wanted or place[0] in wanted]
    path = VECTORS / "allocation" / f"{options.name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(promote(request, case, places, oracles)), encoding="utf-8")
    load_case(path)
    print(path)
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The command; exits with 1 if --check finds a difference, with 3 if upstream cannot be asked."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.promote", description=__doc__.partition("\n\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="the case, or with --refresh the vectors (default: all)")
    parser.add_argument("--refresh", action="store_true", help="ask upstream again what vectors expect")
    parser.add_argument("--check", action="store_true", help="with --refresh: write nothing")
    parser.add_argument("--name", help="folder and name of the new vector below spec/vectors/allocation")
    parser.add_argument("--statements", help="what it shows, separated by commas")
    parser.add_argument("--shows", help="what it shows, in words")
    parser.add_argument("--release", action="append", help="default: every release that can be asked")
    options = parser.parse_args(arguments)
    if not options.refresh and not (len(options.paths) == 1 and options.name and options.statements):
        parser.error("give one case with --name and --statements, or --refresh")
    oracles = {release: Oracle(release, timeout=20) for release in versions("allocator")}
    try:
        if not options.refresh:
            return _promote(options, oracles)
        paths = options.paths or sorted((VECTORS / "allocation").rglob("*.yaml"))
        changed = _refresh([path.resolve() for path in paths], oracles, check=options.check)
        print(f"{len(paths)} vectors, {changed} {'differ' if options.check else 'written'}")
        return int(options.check and bool(changed))
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3
    except VectorError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        for oracle in oracles.values():
            oracle.close()


if __name__ == "__main__":
    sys.exit(main())
