"""
The same question has the same answer, in this process twice and in another one with other hash seeds.

    python -m fuzz.targets.determinism [--cases 500] [--seed 1]

Share IDs are random on purpose and left out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from functools import cache

from dra_alloc.testing.client import Client
from dra_alloc.testing.comparison import comparable
from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command, requests


def _cases(seed: int) -> Iterator[Json]:
    engines = itertools.cycle(("auto", "first-fit"))
    return ({**request, "engine": engine} for request, engine in zip(requests(seed), engines, strict=False))


@cache
def _elsewhere(hash_seed: str) -> Client:
    """Return a process of its own in which sets and hashes are ordered otherwise."""
    return Client([sys.executable, "-m", "dra_alloc", "harness"], environment={"PYTHONHASHSEED": hash_seed})


def _check(request: Json) -> str:
    first = ours(request)
    told = comparable(first)
    if comparable(ours(request)) != told:
        raise Broken("two answers in one process: they differ")
    for hash_seed in ("1", "2"):
        if comparable(_elsewhere(hash_seed).ask(request)) != told:
            raise Broken(f"with PYTHONHASHSEED={hash_seed} the answer is another")
    return str(first.get("verdict", "refused"))


TARGET = Target("determinism", _cases, _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    try:
        return command(TARGET, arguments)
    finally:
        for hash_seed in ("1", "2"):
            _elsewhere(hash_seed).close()


if __name__ == "__main__":
    sys.exit(main())
