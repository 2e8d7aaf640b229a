"""
Sweeps: the same rows whoever answers and in whichever order, and none is lost with a process.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dra_alloc import SweepQuestion, SweepRow, sweep
from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.sweep import answering, sweeping
from dra_alloc.scenario.sweep.questions import in_order
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import after_steps, what_if
from tests.paths import ROOT

CLUSTER = str(ROOT / "docs" / "examples" / "what-if" / "cluster.yaml")
STEPS: list[list[dict[str, Any]]] = [
    [{"drainNodes": {"names": ["gpu-a"]}}],
    [{"removeNodes": {"labels": {"rack": "r1"}}}],
    [{"addNodes": {"like": "gpu-a", "count": 2}}, {"removeNodes": {"names": ["gpu-c"]}}],
    [{"delete": {"kind": "Deployment", "name": "search", "namespace": "shop"}}],
    [{"cordonNodes": {"names": ["gpu-q"]}}],
]


def questions(count: int = 10) -> list[SweepQuestion]:
    return [
        SweepQuestion(f"q{number}", (CLUSTER,), {"steps": STEPS[number % len(STEPS)]}, settings=Settings(release))
        for number, release in zip(range(count), ("1.36", "1.37") * count, strict=False)
    ]


def costly(number: int) -> dict[str, Any]:
    """A claim whose selector takes some 1,000 units of work for a device, and matches none."""
    expression = (
        "".join(f"[1, 2].exists(x{each}, " for each in range(8)) + f"device.driver == 'none-{number}'" + ")" * 8
    )
    exactly = {"deviceClassName": "gpu.example.com", "selectors": [{"cel": {"expression": expression}}]}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    meta = {"name": f"costly-{number}"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}


def waiting(number: int) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"waiting-{number}"}, "spec": spec}


class Here(Executor):
    """Answers in this process, at once."""

    def submit(self, fn, /, *args, **kwargs):
        found: Future[Any] = Future()
        found.set_result(fn(*args))
        return found


class Forgetful(Executor):
    """Loses what it is asked the first times, as an executor does whose worker is gone."""

    def __init__(self, times: int) -> None:
        self.times = times

    def submit(self, fn, /, *args, **kwargs):
        found: Future[Any] = Future()
        self.times -= 1
        if self.times >= 0:
            found.set_exception(OSError("worker is gone"))
        else:
            found.set_result(fn(*args))
        return found


class Broken(Executor):
    """Has processes of which none can be started."""

    def submit(self, fn, /, *args, **kwargs):
        found: Future[Any] = Future()
        found.set_exception(BrokenExecutor())
        return found


class Deadly(dict[str, Any]):
    """Steps that end the process that reads them."""

    def __reduce__(self):
        return os._exit, (1,)


class Unsent(dict[str, Any]):
    """Steps that cannot be sent to another process."""

    def __reduce__(self):
        raise TypeError("these stay here")


class Slow(Executor):
    """Answers the first question, and keeps the others waiting."""

    def __init__(self) -> None:
        self.asked: list[Future[Any]] = []

    def submit(self, fn, /, *args, **kwargs):
        found: Future[Any] = Future()
        if not self.asked:
            found.set_result(fn(*args))
        self.asked.append(found)
        return found


@pytest.fixture
def quick(monkeypatch):
    """Have processes split off one that has loaded what they need: those that are started afresh take a second each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([answering.__name__])
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: context)


@pytest.fixture(autouse=True)
def _forget_before():
    _forget()


def _forget() -> None:
    answering._befores.clear()
    answering._dumps.clear()


def test_rows_say_what_the_command_says_of_one_change():
    dump = load(CLUSTER)
    for row, question in zip(in_order(sweep(questions(), Here())), questions(), strict=True):
        before, after = states(dump, Documents(), Documents(), question.settings)
        after, wrong = after_steps(after, steps_in(question.steps)[0], load)
        if wrong:
            assert row.wrong == tuple(map(str, wrong))
            continue
        found = what_if(before, after, CheckOptions(question.settings))
        assert row.fates == {fate.value: found.count(fate) for fate in {each.fate for each in found.changes}}
        assert {(each.name, each.fate) for each in row.differences} == {
            (each.subject.name, each.fate.value) for each in found.changes if each.fate != "stays"
        }


def test_the_order_of_questions_changes_no_row():
    asked = questions(15)
    wanted = {each.name: replace(each, place=0) for each in sweep(asked, Here())}
    for seed in range(3):
        shuffled = Random(seed).sample(asked, len(asked))
        assert {each.name: replace(each, place=0) for each in sweep(shuffled, Here())} == wanted


@pytest.mark.parametrize(("budget", "is_short"), [(1, True), (100, True), (500, True), (1_000_000, False)])
def test_what_the_budget_leaves_undecided_is_the_same_in_any_order(budget, is_short, tmp_path):
    file = tmp_path / "claims.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [costly(n) for n in range(6)]}))
    asked = [replace(each, budget=budget, manifests=(str(file),)) for each in questions(10)]
    wanted = in_order(sweep(asked, Here()))
    assert any("undecided" in each.fates for each in wanted) == is_short
    answering._befores.clear()
    assert [answering.answered(place, asked[place]) for place in reversed(range(10))] == wanted[::-1]


@pytest.mark.parametrize("given", ["cluster", "manifests", "base"])
def test_files_that_change_are_read_again(given, tmp_path, monkeypatch):
    """One that is written anew, and one of the same name elsewhere."""

    def answer(folder: str, *numbers: int) -> SweepRow:
        (tmp_path / folder).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / folder)
        for name in ("cluster", "manifests", "base"):
            make = waiting if name == "cluster" else costly
            asked = [make(number) for number in (numbers if name == given else (1,))]
            Path(f"{name}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": asked}))
        question = SweepQuestion("q", ("cluster.json", CLUSTER), manifests=("manifests.json",), base=("base.json",))
        return answering.answered(0, question)

    asked = [("a", (1,)), ("a", (1, 2, 3)), ("b", (1, 2))]
    rows = [answer(folder, *numbers) for folder, numbers in asked]
    for row, (folder, numbers) in zip(rows, asked, strict=True):
        _forget()
        assert row == answer(folder, *numbers)
    assert len({repr((each.fates, each.differences)) for each in rows}) == 3


def test_processes_and_threads_answer_alike():
    wanted = in_order(sweep(questions(), Here()))
    with ThreadPoolExecutor(3) as threads:
        assert in_order(sweep(questions(), threads)) == wanted
    assert in_order(sweep(questions(), workers=2)) == wanted


def test_few_questions_start_no_process(monkeypatch):
    monkeypatch.setattr(sweeping, "processes", lambda count: nullcontext(Broken()))
    wanted = in_order(sweep(questions(), Here()))
    assert list(sweep(questions())) == wanted
    with pytest.raises(InputError, match="no process can be started"):
        next(sweep(questions(32)))


def test_a_process_that_is_killed_loses_no_row(quick):
    wanted = in_order(sweep(questions(12), Here()))
    rows: list[SweepRow] = []
    for row in sweep(questions(12), workers=2):
        if not rows:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        rows.append(row)
    assert in_order(rows) == wanted


def test_where_no_process_can_be_started_no_question_is_to_blame(monkeypatch):
    monkeypatch.setattr(sweeping, "processes", lambda count: nullcontext(Broken()))
    with pytest.raises(InputError, match="no process can be started"):
        next(sweep(questions(3), workers=2))


def test_a_question_that_ends_every_process_is_told_so(quick):
    asked = questions(4)
    wanted = in_order(sweep(asked, Here()))
    asked[1] = replace(asked[1], steps=Deadly())
    rows = in_order(sweep(asked, workers=2))
    assert [each for each in rows if each.place != 1] == [each for each in wanted if each.place != 1]
    assert rows[1].unanswered == "its process was lost 3 times, alone with it"
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(("times", "unanswered"), [(2, 0), (3, 1), (100, 1)])
def test_what_an_executor_loses_is_asked_again(times, unanswered):
    rows = in_order(sweep(questions(1), Forgetful(times)))
    assert sum(bool(each.unanswered) for each in rows) == unanswered
    assert len(rows) == 1


def test_a_broken_executor_loses_no_row():
    threads = ThreadPoolExecutor(1)
    threads.shutdown()
    rows = list(sweep(questions(3), threads))
    assert [each.unanswered.partition(":")[0] for each in rows] == ["the executor takes no questions"] * 3


def test_who_stops_early_leaves_no_process(quick):
    rows = sweep(questions(40), workers=2)
    next(rows)
    processes = multiprocessing.active_children()
    rows.close()  # type: ignore[attr-defined]
    assert processes
    assert all(wait([each.sentinel], 10) for each in processes)


def test_who_stops_early_leaves_no_question_with_others():
    executor = Slow()
    rows = sweep(questions(5), executor)
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert [each.cancelled() for each in executor.asked] == [False, True, True, True, True]


def test_a_question_that_cannot_be_sent_loses_no_other_row(quick):
    asked = questions(4)
    wanted = in_order(sweep(asked, Here()))
    asked[1] = replace(asked[1], steps=Unsent())
    rows = in_order(sweep(asked, workers=1))
    assert [each for each in rows if each.place != 1] == [each for each in wanted if each.place != 1]
    assert rows[1].unanswered == "it cannot be sent: TypeError: these stay here"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "it takes more memory than there is"),
        (RecursionError("deep"), "something in it is nested too deeply"),
        (ValueError("odd"), "a bug of dra-alloc: ValueError: odd"),
    ],
)
def test_what_ends_a_question_is_told(error, said, monkeypatch):
    def ends(*_: Any) -> None:
        raise error

    monkeypatch.setattr(answering, "_asked", ends)
    assert answering.answered(0, questions(1)[0]).unanswered == said


def test_too_many_questions_are_refused(monkeypatch):
    monkeypatch.setattr(sweeping, "MOST_QUESTIONS", 2)
    with pytest.raises(InputError, match="at most 2 questions, not 3"):
        sweep(questions(3))


def test_dask_answers_alike(dask, tmp_path):
    wanted = in_order(sweep(questions(12), Here()))
    with (
        dask.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", local_directory=str(tmp_path)
        ) as machines,
        dask.Client(machines) as client,
    ):
        rows: list[SweepRow] = []
        for row in sweep(questions(12), client.get_executor()):
            if not rows:
                pids = list(client.run(os.getpid).values())
                os.kill(pids[0], signal.SIGKILL)
            rows.append(row)
    assert in_order(rows) == wanted
