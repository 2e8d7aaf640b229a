"""
The command prints the same bytes whatever surrounds it: hash seeds, locales, time zones, -O, -OO, the order of files.

    python -m fuzz.targets.same_bytes [--cases 500] [--seed 1]

Every case is a process in one of these surroundings that is asked all questions, one after the other; the 35
surroundings come in turn, the order of files is drawn. Nodes and pods stay in order: of equal nodes the first in the
dump counts, and pods wait in it.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from fuzz.target import Broken, Json, Target, command

_ROOT: Final = Path(__file__).resolve().parents[2]
_EXAMPLES: Final = _ROOT / "docs" / "examples"
_CLUSTER: Final = ("--cluster", "cluster")
#: What is asked, in a folder with the examples.
_ASKED: Final[tuple[tuple[str, ...], ...]] = (
    ("check", "workloads/fits.yaml", "workloads/defect.yaml", *_CLUSTER, "--format", "json"),
    ("explain", "workloads/too-big.yaml", *_CLUSTER),
    ("explain", "workloads/fits.yaml", *_CLUSTER, "--format", "sarif"),
    ("expand", "workloads/fits.yaml", *_CLUSTER),
    ("gang", "gang/pair.yaml", "--cluster", "gang/one-gpu.yaml", "--format", "json"),
    ("what-if", "what-if/drain.yaml", "--cluster", "what-if/cluster.yaml"),
    ("what-if", "--cluster", "what-if/cluster.yaml", "--sweep", "what-if/drain.yaml", "--format", "json"),
    ("capacity", "capacity/more.yaml", "--cluster", "what-if/cluster.yaml", "--format", "json"),
    ("admit", "admit/jobs.yaml", "--cluster", "admit/cluster.yaml", "--format", "json"),
    ("admit", "admit/kai-jobs.yaml", "--cluster", "admit/kai-cluster.yaml"),
    ("check", "stack/inference.yaml", "--cluster", "stack/cluster.yaml", "--format", "html"),
    ("fleet", "fleet/shapes.yaml"),
    ("lint", "workloads", "validate", *_CLUSTER, "--format", "json"),
    ("lint", "validate", "--diff", "--unsafe-fixes"),
    ("convert", "workloads", "--to", "v1beta1", "--diff"),
    ("rule", "E203"),
    ("validate", "validate", "--format", "json"),
    ("cel", 'device.attributes["gpu.example.com"].model == "H100"', *_CLUSTER, "--format", "json"),
)
_SEEDS: Final = [{"PYTHONHASHSEED": str(seed)} for seed in range(21)]
_LOCALES: Final = [{"LC_ALL": name, "LANG": name} for name in ("C", "C.UTF-8", "tr_TR.UTF-8")]
_ZONES: Final = [{"TZ": name} for name in ("UTC", "Asia/Kolkata", "America/St_Johns")]
_FLAGS: Final = [{"flag": flag} for flag in ("-O", "-OO")]
_ORDERS: Final = [{"order": "files"}] * 6
_END: Final = b"\0"
_ASKING: Final = """
import json, sys
from contextlib import redirect_stderr
from dra_alloc.cli.main import run
for asked in json.loads(sys.argv[1]):
    with redirect_stderr(sys.stdout):
        code = int(run(asked))
    print(code, end="\\0")
"""
_SURROUNDINGS: Final = (*_SEEDS, *_LOCALES, *_ZONES, *_FLAGS, *_ORDERS)
#: Of these the order is part of the question.
_IN_ORDER: Final = ("Node", "Pod")


def _cases(seed: int) -> Iterator[Json]:
    """Return all surroundings, in an order of the seed, again and again."""
    for number in itertools.count():
        for around in Random(f"{seed}/{number}").sample(_SURROUNDINGS, len(_SURROUNDINGS)):
            yield {"around": around, "draw": f"{seed}/{number}/{around}"}


def _check(case: Json) -> str:
    for asked, expected, found in zip(_ASKED, _plain(), _answers(case["around"], case["draw"]), strict=True):
        # A list of all devices is in the order in which they come.
        if found != expected and not ("order" in case["around"] and asked[0] == "cel"):
            raise Broken(f"other bytes with {case['around']}: {asked[:2]} prints {_first_other(found, expected)}")
    return str(next(iter(case["around"])))


def _first_other(found: bytes, expected: bytes) -> str:
    """Return the first lines that differ."""
    pairs = itertools.zip_longest(found.splitlines(), expected.splitlines())
    one, other = next(pair for pair in pairs if pair[0] != pair[1])
    return f"{one!r} instead of {other!r}"


@functools.cache
def _plain() -> list[bytes]:
    """Return what is answered in no particular surroundings."""
    return _answers({}, "")


def _answers(around: dict[str, str], draw: str) -> list[bytes]:
    """Return what is printed for each question, with the exit code at the end."""
    flag = [around["flag"]] if "flag" in around else []
    more = {name: value for name, value in around.items() if name.isupper()}
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONHASHSEED": "0", "PYTHONPATH": str(_ROOT), **more}
    with tempfile.TemporaryDirectory() as folder:
        _copied(Path(folder), Random(draw) if "order" in around else None)
        done = subprocess.run(
            [sys.executable, *flag, "-c", _ASKING, json.dumps(_ASKED)],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )
    if done.returncode or done.stderr:
        raise Broken(f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout.split(_END)[:-1]


def _copied(folder: Path, random: Random | None) -> None:
    """Copy the examples; with `random` what has no order in the cluster comes in another one, in other files."""
    for source in sorted(_EXAMPLES.rglob("*.yaml")):
        target = folder / source.relative_to(_EXAMPLES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    if random is None:
        return
    cluster = folder / "cluster"
    items = [each for file in sorted(cluster.iterdir()) for each in _objects(file)]
    kept = [each for each in items if each["kind"] in _IN_ORDER]
    loose = [each for each in items if each["kind"] not in _IN_ORDER]
    for file in list(cluster.iterdir()):
        file.unlink()
    parts: list[list[Any]] = [kept, *([] for _ in range(3))]
    for each in random.sample(loose, len(loose)):
        random.choice(parts[1:]).append(each)
    for number, part in enumerate(random.sample(parts, len(parts))):
        (cluster / f"{number}.yaml").write_text(yaml.safe_dump_all(part))


def _objects(file: Path) -> Iterator[Any]:
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        if document:
            yield from document["items"] if document["kind"].endswith("List") else [document]


TARGET = Target("same_bytes", _cases, _check, shrinks=False)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
