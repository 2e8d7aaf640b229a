"""
One question of a sweep answered, in whichever process: what many of them share is read and asked once.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from dra_alloc.api import FrozenMap
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.objects import DELETED, states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError, ManifestError
from dra_alloc.manifest import Documents, Manner, Validate, load_readable
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.read.inputs import files_of
from dra_alloc.pods.naming import in_namespace
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.remembered import Remembered
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.sweep.questions import Difference, SweepQuestion, SweepRow
from dra_alloc.scenario.what_if.asking import OneSide
from dra_alloc.scenario.what_if.reading import Scenario, steps_in
from dra_alloc.scenario.what_if.what_if import Fate, WhatIf, WorkloadChange, after_steps, asked_before, what_if
from dra_alloc.work import BudgetExhausted, Purse, Spent

#: Dumps, and clusters before a change, that a process keeps.
_DUMPS: Final = 1
_BEFORE: Final = 8


#: A file as it was when a question came: where it is, and what changes with what it holds.
_Stamp = tuple[str, int, int, int]


class _Files(NamedTuple):
    """Files as they are read; with `stamps` they are others once one of them was written anew."""

    paths: tuple[str, ...]
    validate: Validate
    namespace: str
    stamps: tuple[_Stamp, ...] = ()


class _Start(NamedTuple):
    """Where questions begin that differ in their steps only."""

    cluster: _Files
    base: _Files
    manifests: _Files
    settings: Settings
    taught: tuple[Taught, ...]
    budget: int


@dataclass(frozen=True, slots=True)
class _Before:
    """The two states from which steps go, and what is known of the first."""

    before: ClusterState
    after: ClusterState
    side: OneSide
    spent: Spent


_dumps: Final[Remembered[_Files, Documents]] = Remembered(_DUMPS)
_befores: Final[Remembered[_Start, _Before]] = Remembered(_BEFORE)


def answered(place: int, question: SweepQuestion) -> SweepRow:
    """
    Return the row of a question; what is wrong with it is in the row.

    Files are read again that have changed since.

    Spec: SWEEP-1, SWEEP-2.
    """
    try:
        with Purse(question.budget) as purse:
            return _row(place, question, _asked(question, purse))
    except ManifestError as error:
        return SweepRow.of(place, question, wrong=tuple(map(str, error.problems)))
    except InputError as error:
        return SweepRow.of(place, question, wrong=(str(error),))
    except BudgetExhausted as error:
        return SweepRow.of(place, question, unanswered=str(error))
    except MemoryError:
        return SweepRow.of(place, question, unanswered="it takes more memory than there is")
    except RecursionError:
        return SweepRow.of(place, question, unanswered="something in it is nested too deeply")
    except Exception as error:  # noqa: BLE001 - the other questions have their answers
        return SweepRow.of(place, question, unanswered=f"a bug of dra-alloc: {type(error).__name__}: {error}")


def given(question: SweepQuestion, dump: Documents) -> None:
    """Let the questions of this process that are like one have a dump as it was read, instead of reading it again."""
    _dumps.put(_start(question).cluster, in_namespace(dump, question.namespace))


def _asked(question: SweepQuestion, purse: Purse) -> WhatIf:
    options = CheckOptions(question.settings, namespace=question.namespace, taught=question.taught, reasons=False)
    scenario, wrong = steps_in(question.steps, idle=True) if question.steps else (Scenario(), ())
    if wrong:
        raise ManifestError(wrong)
    start = _start(question)
    found = _befores.get(start)
    if found is None:
        with gc_paused(settle=True):
            found = _befores.put(start, _begun(start, options, purse))
    else:
        purse.pay(found.spent)

    def beside(path: str) -> Documents:
        return _read(_Files((str(Path(question.folder) / path),), question.validate, question.namespace))

    with gc_paused():  # the collector walks what the questions share, and finds nothing
        after, wrong = after_steps(found.after, scenario, beside, options)
        if wrong:
            raise ManifestError(wrong)
        return what_if(found.before, after, options, found.side)


def _start(question: SweepQuestion) -> _Start:
    files = [
        _Files(paths, question.validate, question.namespace, tuple(map(_stamp, files_of(paths))))
        for paths in (question.cluster, question.base, question.manifests)
    ]
    return _Start(files[0], files[1], files[2], question.settings, question.taught, question.budget)


def _stamp(file: str) -> _Stamp:
    """Return what tells a file from others, and from what it was; reading it says what is wrong with one."""
    place = os.path.realpath(file)
    try:
        found = Path(place).stat()
    except (OSError, ValueError):
        return place, 0, 0, 0
    return place, found.st_mtime_ns, found.st_size, found.st_ino


def _begun(start: _Start, options: CheckOptions, purse: Purse) -> _Before:
    dump = _dumps.get(start.cluster)
    if dump is None:
        dump = _dumps.put(start.cluster, _read(start.cluster))
    before, after = states(dump, _read(start.base), _read(start.manifests), start.settings)
    with purse.noting() as spent:
        side = asked_before(before, options)
    return _Before(before, after, side, spent)


def _read(files: _Files) -> Documents:
    """Return the objects of files. Raises: ManifestError."""
    if not files.paths:
        return Documents()
    found, problems = load_readable(files.paths, manner=Manner(files.validate))
    if problems:
        raise ManifestError(problems)
    return in_namespace(found, files.namespace)


def _row(place: int, question: SweepQuestion, found: WhatIf) -> SweepRow:
    order = list(Fate)
    same = (Fate.STAYS, Fate.LACKING)
    fates = [(each.fate, each) for each in found.changes]
    changed = sorted(
        (each for each in fates if each[0] not in same), key=lambda each: (order.index(each[0]), each[1].subject)
    )
    counted = Counter(fate for fate, _ in fates)
    counts = {fate.value: counted[fate] for fate in order if counted[fate]}
    differences = tuple([_difference(fate, change) for fate, change in changed])
    stuck, unsure = FrozenMap(found.stuck), FrozenMap(found.unsure)
    return SweepRow.of(
        place, question, fates=counts, differences=differences, stuck=stuck, unsure=unsure, notes=found.notes
    )


def _difference(fate: Fate, change: WorkloadChange) -> Difference:
    was, now = change.before, change.after
    return Difference(
        change.subject.kind,
        change.subject.name,
        fate.value,
        was.running,
        was.wanted,
        now.running,
        now.wanted,
        sum(why != DELETED for why in change.evicted.values()),
        next((each.cause for each in now.refused if each.cause), change.lacks if fate is Fate.BEREFT else ""),
    )
