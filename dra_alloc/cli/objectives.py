"""
The options that say what makes one answer better than another.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from dra_alloc.errors import InputError, ManifestError, Problem, Where
from dra_alloc.manifest import load_plain
from dra_alloc.manifest.plain_file import with_lines
from dra_alloc.scenario.previous import load_previous
from dra_alloc.scenario.prices import cheapest_by
from dra_alloc.solve.best.objectives import Cheapest, FewestNodes, HighestRanked, LeastFragmented, Objective, Stable


def objectives_of(options: Namespace) -> tuple[tuple[Objective, ...], tuple[Problem, ...]]:
    """
    Return the objectives in order, and what is wrong with their files.

    Raises: InputError for one that is named twice, lacks its file or has one
    without being named.
    """
    names = [name for group in options.objective for name in group]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise InputError(f"objective {double} is named twice")
    for objective, option, file in ((Cheapest, "--prices", options.prices), (Stable, "--previous", options.previous)):
        if (file is None) is (objective.name in names):
            raise InputError(f"objective {objective.name} and {option} go together")
    made: list[Objective] = []
    problems: list[Problem] = []
    for name in names:
        try:
            made.append(_MADE[name](options))
        except ManifestError as error:
            problems += error.problems
        except InputError as error:
            problems.append(Problem(error.message, error.where, error.hint))
    return tuple(made), tuple(problems)


def cheapest_from(file: str) -> Cheapest:
    """Return the objective that a file's price list makes. Raises: InputError, ManifestError."""
    where = Where(file=file)
    if Path(file).is_dir():
        raise InputError("is a folder, and a price list is one file", where=where)
    documents = load_plain(file)
    if len(documents) != 1:
        raise InputError(f"a price list is one document, and this file has {len(documents) or 'none'}", where=where)
    try:
        return cheapest_by(documents[0], file)
    except ManifestError as error:
        raise ManifestError(with_lines(error.problems, file), error.undone) from None


_MADE: Final[Mapping[str, Callable[[Namespace], Objective]]] = {
    FewestNodes.name: lambda _: FewestNodes(),
    LeastFragmented.name: lambda _: LeastFragmented(),
    HighestRanked.name: lambda _: HighestRanked(),
    Cheapest.name: lambda options: cheapest_from(options.prices),
    Stable.name: lambda options: load_previous(options.previous),
}
