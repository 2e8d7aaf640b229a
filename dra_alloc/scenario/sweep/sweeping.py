"""
Questions of a sweep handed out to whoever answers: rows as they come, none of them lost.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Final

from dra_alloc.errors import InputError
from dra_alloc.scenario.sweep.answering import answered
from dra_alloc.scenario.sweep.processes import processes
from dra_alloc.scenario.sweep.questions import SweepQuestion, SweepRow

#: So often a question is asked of whoever is lost over it.
TRIES: Final = 3
#: More than these nobody waits for.
MOST_QUESTIONS: Final = 100_000
#: Fewer than these are answered here: what processes save, they spend on reading the cluster and asking it once more.
_FOR_SEVERAL: Final = 32
#: Questions that are with an executor of others at a time; with processes of our own it is two for each.
_WITH_OTHERS: Final = 1_000
_EACH: Final = 2

_Asked = tuple[int, SweepQuestion]


def sweep(
    questions: Iterable[SweepQuestion], executor: Executor | None = None, *, workers: int | None = None
) -> Iterator[SweepRow]:
    """
    Yield a row for each question as it is answered, in whichever order; `in_order` sorts them.

    Without an `executor` as many processes answer as there are processors, or `workers`; a script that calls this
    needs ``if __name__ == "__main__":`` then. Without `workers`, few questions are answered in this process.
    An executor is any of `concurrent.futures`, also Dask's (``Client.get_executor()``) or Ray's, whose workers can read
    the questions' files; it is not shut down.
    A question whose worker is lost is asked again, three times at most.

    Spec: SWEEP-1 to SWEEP-4. Raises: InputError for more than 100,000 questions.
    """
    asked = list(enumerate(questions))
    if len(asked) > MOST_QUESTIONS:
        raise InputError(f"a sweep takes at most {MOST_QUESTIONS:,} questions, not {len(asked):,}")
    if executor is not None:
        return _with_others(asked, executor)
    if answered_here(len(asked), workers):
        return (answered(*each) for each in asked)
    return _alone(asked, workers or _processors())


def answered_here(questions: int, workers: int | None) -> bool:
    """Say whether so many questions are answered in the process that asks."""
    return workers is None and questions < _FOR_SEVERAL


def _alone(asked: Sequence[_Asked], workers: int) -> Iterator[SweepRow]:
    """
    Yield rows that processes of our own answer.

    Where one is lost, nobody knows over which question: those that were under way are asked one by one; or no process
    can be started, of which the first that is lost is suspected.
    """
    left = deque(asked)
    while left:
        with processes(min(workers, len(left))) as pool:
            suspects = yield from _answers(left, pool, _EACH * workers)
        if len(suspects) + len(left) == len(asked):
            _see_that_processes_start()
        for place, question in suspects:
            yield _by_itself(place, question)


def _see_that_processes_start() -> None:
    with processes(1) as pool:
        try:
            pool.submit(os.getpid).result()
        except BrokenExecutor as error:
            hint = 'a script that asks for a sweep has to do so below `if __name__ == "__main__":`'
            raise InputError("no process can be started", hint=hint) from error


def _answers(left: deque[_Asked], pool: Executor, most: int) -> Generator[SweepRow, None, list[_Asked]]:
    """Yield rows until all questions are answered or the pool is broken; return those that were under way then."""
    under_way: dict[Future[SweepRow], _Asked] = {}
    lost: list[_Asked] = []
    while left or under_way:
        while left and not lost and len(under_way) < most:
            try:
                under_way[pool.submit(answered, *left[0])] = left[0]
            except BrokenExecutor:
                if not under_way:
                    return []
                break
            left.popleft()
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for each in done:
            asked = under_way.pop(each)
            row = _row_of(each, *asked)
            if row is None:
                lost.append(asked)
            else:
                yield row
        if lost and not under_way:
            return sorted(lost, key=lambda each: each[0])
    return []


def _row_of(answer: Future[SweepRow], place: int, question: SweepQuestion) -> SweepRow | None:
    """Return the row that a process sends, or of a question that cannot be sent to one; None if the process is lost."""
    try:
        return answer.result()
    except BrokenExecutor:
        return None
    except Exception as error:  # noqa: BLE001 - whatever is raised where the question or its row is packed
        return SweepRow.of(place, question, unanswered=f"it cannot be sent: {type(error).__name__}: {error}")


def _by_itself(place: int, question: SweepQuestion) -> SweepRow:
    """Return the row of a question over which a process may have been lost, asked of one of its own."""
    for _ in range(TRIES):
        with processes(1) as pool:
            row = _row_of(pool.submit(answered, place, question), place, question)
        if row is not None:
            return row
    return SweepRow.of(place, question, unanswered=f"its process was lost {TRIES} times, alone with it")


def _with_others(asked: Sequence[_Asked], executor: Executor) -> Iterator[SweepRow]:
    """Yield rows that an executor answers which lives on; questions that nobody waits for any more are cancelled."""
    under_way: dict[Future[SweepRow], _Asked] = {}
    try:
        yield from _by_others(asked, executor, under_way)
    finally:
        for each in under_way:
            each.cancel()


def _by_others(
    asked: Sequence[_Asked], executor: Executor, under_way: dict[Future[SweepRow], _Asked]
) -> Iterator[SweepRow]:
    """Yield rows, with the questions that are with the executor in `under_way`; what it loses is asked again."""
    left, tries = deque(asked), dict[int, int]()
    while left or under_way:
        while left and len(under_way) < _WITH_OTHERS:
            place, question = left.popleft()
            try:
                under_way[executor.submit(answered, place, question)] = place, question
            except RuntimeError as error:  # it is shut down, or broken
                yield SweepRow.of(place, question, unanswered=f"the executor takes no questions: {error}")
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for each in done:
            place, question = under_way.pop(each)
            try:
                yield each.result()
            except Exception as error:  # noqa: BLE001 - whatever an executor says of workers that it lost
                tries[place] = tries.get(place, 0) + 1
                if tries[place] < TRIES:
                    left.append((place, question))
                else:
                    said = f"{type(error).__name__}: {error}".rstrip(": ")
                    yield SweepRow.of(place, question, unanswered=f"asked {TRIES} times, then {said}")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
