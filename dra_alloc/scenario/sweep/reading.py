"""
Files of a sweep: scenarios, and releases, gates and clusters under which each of them is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dra_alloc.api import FrozenMap
from dra_alloc.cluster.edits.objects import Apply
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import DraAllocError, InputError, ManifestError, Problem, Where
from dra_alloc.manifest.plain_file import load_numbered, with_lines
from dra_alloc.manifest.plain_models import faults_of
from dra_alloc.manifest.read.inputs import files_of
from dra_alloc.scenario.sweep.questions import SweepQuestion
from dra_alloc.scenario.sweep.sweeping import MOST_QUESTIONS
from dra_alloc.scenario.what_if.reading import Scenario, steps_in

#: Of what has these, each is asked with each.
_AXES: Final = ("scenarios", "releases", "gates", "clusters")


class _SweepFile(BaseModel):
    """A file of a sweep."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    scenarios: Mapping[str, Mapping[str, Any]] = Field(default_factory=FrozenMap, description="scenarios by name")
    releases: tuple[str, ...] = Field((), strict=False, description="releases of Kubernetes, each asked of all else")
    gates: tuple[Mapping[str, bool], ...] = Field((), strict=False, description="sets of feature gates")
    clusters: tuple[str | tuple[str, ...], ...] = Field(
        (), strict=False, description="dumps, of a file or several; paths count from the folder of this file"
    )


@dataclass(frozen=True, slots=True)
class _Scenario:
    """A scenario that was read, with the folder from which its paths count."""

    name: str
    steps: Mapping[str, Any]
    folder: str


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """
    What a sweep is to ask, the files besides that it names, and what is wrong with its own.

    `releases_at` and `gates_at` are where these stand.
    """

    scenarios: tuple[_Scenario, ...] = ()
    releases: tuple[str, ...] = ()
    gates: tuple[Mapping[str, bool], ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    named: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), repr=False)
    releases_at: tuple[Where, ...] = ()
    gates_at: tuple[Where, ...] = ()


def read_plan(paths: Sequence[str]) -> SweepPlan:
    """
    Return what the files and folders of a sweep say, with all that is wrong with them.

    A document with ``steps`` is a scenario, called by its file; any other one has ``scenarios`` by name, ``releases``,
    ``gates`` or ``clusters``.

    Spec: SWEEP-3.
    """
    plan = _together(map(_read, files_of(paths)))
    counts = Counter(each.name for each in plan.scenarios)
    twice = [Problem(f"there are two scenarios {name}") for name in sorted(counts) if counts[name] > 1]
    return replace(plan, problems=(*plan.problems, *twice))


def questions_of(plan: SweepPlan, like: SweepQuestion, called: Mapping[tuple[str, ...], str]) -> list[SweepQuestion]:
    """
    Return a question for each scenario under each release, set of gates and cluster, those of a cluster together.

    What the plan does not say is as in the question `like`; `called` says what clusters are called.

    Raises: ManifestError with all settings that are none, InputError for too many questions.
    """
    scenarios = plan.scenarios or (_Scenario(like.name, like.steps, like.folder),)
    clusters = plan.clusters or (like.cluster,)
    settings = settings_of_plan(plan, like.settings)
    count = len(scenarios) * len(clusters) * len(settings)
    if count > MOST_QUESTIONS:
        raise InputError(f"a sweep takes at most {MOST_QUESTIONS:,} questions, and these are {count:,}")
    return [
        replace(
            like,
            name=scenario.name,
            steps=scenario.steps,
            folder=scenario.folder,
            cluster=cluster,
            settings=chosen,
            called=called.get(cluster, ""),
        )
        for cluster, chosen, scenario in product(clusters, settings, scenarios)
    ]


def settings_of_plan(plan: SweepPlan, like: Settings) -> list[Settings]:
    """
    Return the settings that a sweep asks with: each release with each set of gates, and what it does not say as in one.

    Raises: ManifestError with all that are none, and where they stand.
    """
    wrong: list[Problem] = []
    found: list[Settings] = []
    releases = list(zip(plan.releases, plan.releases_at, strict=True)) or [(like.release, Where())]
    gates = list(zip(plan.gates, plan.gates_at, strict=True)) or [(FrozenMap(), Where())]
    for release, release_at in releases:
        for switched, gates_at in gates:
            try:
                settings = Settings(release, {**like.gates, **switched}, like.channel, like.semantics)
                settings.profile()
                found.append(settings)
            except DraAllocError as error:
                is_known = _is_known(release)
                wrong.append(Problem(error.message, gates_at if is_known else release_at, error.hint))
    if wrong:
        raise ManifestError(dict.fromkeys(wrong))
    return found


def _is_known(release: str) -> bool:
    try:
        Settings(release).profile()
    except DraAllocError:
        return False
    return True


def _read(file: str) -> SweepPlan:
    try:
        documents = load_numbered(file)
    except ManifestError as error:
        return SweepPlan(problems=tuple(error.problems))
    if not documents:
        return SweepPlan(problems=(Problem("there is no scenario in it", Where(file=file)),))
    names = [file] if len(documents) == 1 else [f"{file}#{number + 1}" for number in range(len(documents))]
    plans = [_document(each, name, file) for (_, each), name in zip(documents, names, strict=True)]
    numbers = [place for (place, _), plan in zip(documents, plans, strict=True) for _ in plan.problems]
    plan = _together(plans)
    return replace(
        plan,
        problems=with_lines(plan.problems, file, numbers),
        releases_at=_lined(documents, [each.releases_at for each in plans], file),
        gates_at=_lined(documents, [each.gates_at for each in plans], file),
    )


def _lined(documents: Sequence[tuple[int, Any]], wheres: Sequence[Sequence[Where]], file: str) -> tuple[Where, ...]:
    """Return places in each document with their lines."""
    places = [(number, at) for (number, _), mine in zip(documents, wheres, strict=True) for at in mine]
    told = with_lines([Problem("", at) for _, at in places], file, [number for number, _ in places])
    return tuple([each.where for each in told])


def _together(plans: Iterable[SweepPlan]) -> SweepPlan:
    """Return what all plans say, as one."""
    found = list(plans)
    members = (*_AXES, "named", "problems", "releases_at", "gates_at")
    return SweepPlan(**{each: tuple(chain.from_iterable(getattr(plan, each) for plan in found)) for each in members})


def _document(document: Any, name: str, file: str) -> SweepPlan:
    folder = str(Path(file).parent)
    if not isinstance(document, dict) or not document.keys() & {*_AXES}:
        read, wrong = steps_in(document, file, idle=True)
        mine = () if wrong else (_Scenario(name, document, folder),)
        return SweepPlan(mine, named=_applied(read, folder), problems=wrong)
    try:
        found = _SweepFile.model_validate(document)
    except ValidationError as error:
        faults = faults_of(_SweepFile, error)
        wrong = tuple([replace(each, where=replace(each.where, file=file)) for each in faults])
        return SweepPlan(named=tuple(_named(document, folder)), problems=wrong)
    scenarios, named, problems = list[_Scenario](), list[str](), list[Problem]()
    for each, steps in found.scenarios.items():
        read, wrong = steps_in(steps, file, idle=True)
        named += _applied(read, folder)
        problems += [replace(it, where=Where(path=f"scenarios.{each}.{it.where.path}", file=file)) for it in wrong]
        scenarios.append(_Scenario(each, steps, folder))
    clusters = [(each,) if isinstance(each, str) else each for each in found.clusters]
    placed = [tuple(str(Path(folder) / path) for path in each) for each in clusters]
    return SweepPlan(
        tuple(scenarios),
        found.releases,
        found.gates,
        tuple(placed),
        tuple(named),
        tuple(problems),
        tuple([Where(path=f"releases[{number}]", file=file) for number in range(len(found.releases))]),
        tuple([Where(path=f"gates[{number}]", file=file) for number in range(len(found.gates))]),
    )


def _applied(scenario: Scenario, folder: str) -> tuple[str, ...]:
    """Return the files that the steps of a scenario apply."""
    paths = [path for _, step in scenario.steps if isinstance(step, Apply) for path in step.paths]
    return tuple([str(Path(folder) / each) for each in paths])


def _named(document: Mapping[str, Any], folder: str) -> Iterator[str]:
    """Yield the files that a document names with which something is wrong: they are not written over either."""
    clusters, scenarios = document.get("clusters"), document.get("scenarios")
    for each in clusters if isinstance(clusters, list) else ():
        paths = each if isinstance(each, list) else [each]
        yield from (str(Path(folder) / path) for path in paths if isinstance(path, str))
    for steps in scenarios.values() if isinstance(scenarios, dict) else ():
        yield from _applied(steps_in(steps)[0], folder)
