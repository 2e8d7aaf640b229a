"""
`what-if --sweep`: many changes, whose rows are written as they come and told together in the end.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dra_alloc.cli.ages import check_ages
from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.nothing import check_stdin_once
from dra_alloc.cli.output import file_beside_answer, input_files, keep_inputs, show, tell, warn
from dra_alloc.cli.reading import given_settings, settings_of
from dra_alloc.cli.writing import growing_file
from dra_alloc.errors import InputError, ManifestError, Problem, by_place
from dra_alloc.manifest import Manner, load_readable
from dra_alloc.manifest.read.inputs import STDIN
from dra_alloc.manifest.snapshot.header import looks_like_snapshot
from dra_alloc.manifest.snapshot.packed import pack
from dra_alloc.pods.workloads.shapes import taught_by
from dra_alloc.report.sweep_report import WORSE, sweep_report
from dra_alloc.scenario.sweep.answering import given
from dra_alloc.scenario.sweep.questions import SweepQuestion, SweepRow, in_order
from dra_alloc.scenario.sweep.reading import SweepPlan, questions_of, read_plan, settings_of_plan
from dra_alloc.scenario.sweep.sweeping import answered_here, sweep
from dra_alloc.scenario.what_if.what_if import Fate

_TENTHS = 10


def run_sweep(options: Namespace) -> int:
    """
    Ask all questions of a sweep and return the exit code.

    Raises: ManifestError with all that is wrong with files at once; InputError for options that do not go together.
    """
    plan = _plan(options)
    target = None if options.rows is None else _rows_file(options)
    rows = []
    with TemporaryDirectory(prefix="dra-alloc-") as folder:
        questions = _questions(options, plan, Path(folder))
        # What is there of an earlier sweep goes only now, when nothing is wrong with this one.
        with nullcontext(None) if target is None else growing_file(target) as write_row:
            for row in sweep(questions, workers=options.workers):
                rows.append(row)
                if write_row is not None:
                    write_row(json.dumps(row.members()) + "\n")
                _progress(len(rows), len(questions))
    rows = in_order(rows)
    show(options, sweep_report(rows))
    return _code(rows)


def _plan(options: Namespace) -> SweepPlan:
    if options.scenario:
        raise InputError("SCENARIO is one change, and --sweep many", hint="name the scenario with --sweep, too")
    if options.base and not options.manifests:
        raise InputError("--base says what --manifests replace, which are not given")
    given = [*options.manifests, *options.base, *options.sweep]
    if STDIN in given:
        raise InputError("a sweep reads standard input for its cluster only: its processes have none")
    plan = read_plan(options.sweep)
    keep_inputs(options, [path for paths in plan.clusters for path in paths] + [*plan.named])
    if plan.problems:
        raise ManifestError(by_place(plan.problems))
    if options.max_age is not None:
        check_ages(options, [path for paths in plan.clusters for path in paths])
    if not (options.cluster or plan.clusters):
        raise InputError("there is no cluster to change", hint="give its dump with --cluster, or clusters in the sweep")
    if options.cluster and plan.clusters:
        raise InputError("--cluster and clusters of the sweep do not go together")
    settings_of_plan(plan, given_settings(options))
    if not (plan.scenarios or options.manifests):
        raise InputError("nothing changes", hint="a sweep takes scenarios, manifests to apply with -f, or both")
    return plan


def _questions(options: Namespace, plan: SweepPlan, folder: Path) -> list[SweepQuestion]:
    """Return the questions, on clusters that are packed, so that each process reads them in an instant."""
    check_stdin_once(options.cluster)
    like = SweepQuestion(
        "",
        tuple(options.cluster),
        manifests=tuple(options.manifests),
        base=tuple(options.base),
        settings=settings_of(options),
        namespace=options.namespace,
        taught=tuple(map(taught_by, options.pod_template)),
        validate=options.validate,
        budget=options.budget,
    )
    problems: list[Problem] = []
    clusters = plan.clusters or (like.cluster,)
    called, packed = dict[tuple[str, ...], str](), []
    here = len(clusters) == 1 and STDIN not in clusters[0]
    here = here and answered_here(len(questions_of(plan, like, {})), options.workers)
    for number, paths in enumerate(clusters):
        packed.append(_packed(paths, options, None if here else folder / f"{number}.snapshot", like, problems))
        called[packed[-1]] = " ".join(paths)
    for paths in (like.manifests, like.base):
        _, wrong = load_readable(paths, manner=Manner.applied(options.validate)) if paths else (None, ())
        problems += wrong
    if problems:
        raise ManifestError(by_place(problems))
    return questions_of(replace(plan, clusters=tuple(packed)), like, called)


def _packed(
    paths: tuple[str, ...], options: Namespace, target: Path | None, like: SweepQuestion, problems: list[Problem]
) -> tuple[str, ...]:
    """
    Return the file that processes read for a dump: the dump if it is packed, else what is packed of it here.

    Without a `target` this process answers, which has read it.
    """
    found, wrong = load_readable(paths, manner=Manner(options.validate))
    problems += wrong
    warn(*found.warnings)
    if target is None:
        given(replace(like, cluster=paths), found)
        return paths
    if len(paths) == 1 and paths[0] != STDIN and Path(paths[0]).is_file():
        with Path(paths[0]).open("rb") as file:
            if looks_like_snapshot(file.read(64)):
                return tuple(paths)
    target.write_bytes(pack(found, ()))
    return (str(target),)


def _rows_file(options: Namespace) -> str:
    """Return the file of rows. Raises: InputError for one that cannot be written, or is one of others."""
    target = file_beside_answer(options, "rows")
    keep_inputs(options, input_files(options))
    return target


def _progress(done: int, of: int) -> None:
    if done * _TENTHS // of > (done - 1) * _TENTHS // of:
        tell(f"{done:,} of {of:,} asked")


def _code(rows: Sequence[SweepRow]) -> int:
    if any(row.wrong for row in rows):
        return ExitCode.BAD_INPUT
    if any(row.stuck or any(map(row.fates.get, WORSE)) for row in rows):
        return ExitCode.UNSATISFIABLE
    undecided = any(row.unanswered or row.unsure or row.fates.get(Fate.UNDECIDED) for row in rows)
    return ExitCode.UNDECIDED if undecided else ExitCode.OK
