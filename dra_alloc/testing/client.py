"""
A client of the harness protocol: it starts an implementation's command and asks it.

    with Client("my-allocator harness") as allocator:
        answer = allocator.ask({"op": "quantity", "value": "1.5Gi"})
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

from dra_alloc.errors import InputError

__all__ = ["Answer", "Client", "Failure", "HarnessError"]

Json: TypeAlias = dict[str, Any]

#: Questions on the way at once.
WINDOW: Final = 64
#: A longer line is no answer.
LONGEST_LINE: Final = 1 << 26
_LAST_WORDS: Final = 20
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Why a question has no answer.

    `kind` is ``timeout``, ``exited``, ``bad-line`` (no JSON object) or
    ``out-of-order`` (the answer names another question).
    """

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


Answer: TypeAlias = Json | Failure


class HarnessError(InputError):
    """The implementation cannot be started, or a single question has no answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Client:
    """
    A running implementation of the harness protocol.

    `command` is split as a shell would, if it is one text. The clock of a
    question runs from the answer before it; after `seconds` the program is
    killed and the next question meets a new one, as after an exit or a broken
    line. What the program writes to standard error is kept for messages.
    Not for several threads at once.

    Raises: HarnessError where the command cannot be split, or not be started.
    """

    def __init__(
        self, command: str | Sequence[str], *, seconds: float = 60.0, environment: Mapping[str, str] | None = None
    ) -> None:
        self.command = _words(command) if isinstance(command, str) else tuple(command)
        self.seconds = seconds
        self._environment = {**os.environ, **(environment or {})}
        self._running: _Program | None = None
        self.starts = 0

    def ask(self, request: Mapping[str, Any]) -> Json:
        """
        Return the answer to one question.

        Raises: HarnessError where there is none.
        """
        (answer,) = self.ask_all([request])
        if isinstance(answer, Failure):
            raise HarnessError(answer)
        return answer

    def ask_all(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[Answer]:
        """Return the answers in the order of the questions, several of which are on the way at any time."""
        waiting: deque[Mapping[str, Any]] = deque()
        try:
            for request in requests:
                self._program().send(request)
                waiting.append(request)
                if len(waiting) >= WINDOW:
                    yield self._next(waiting)
            while waiting:
                yield self._next(waiting)
        finally:
            if waiting:  # answers on the way would be taken for those to later questions
                self.close()

    def close(self) -> None:
        """End the program; it is started again if there is another question."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _program(self) -> _Program:
        if self._running is None:
            self._running = _Program(self.command, self._environment)
            self.starts += 1
        return self._running

    def _next(self, waiting: deque[Mapping[str, Any]]) -> Answer:
        answer = self._program().receive(self.seconds)
        request = waiting.popleft()
        if (
            not isinstance(answer, Failure)
            and "name" in request
            and answer.get("name", request["name"]) != (request["name"])
        ):
            answer = Failure("out-of-order", f"asked {request['name']!r}, the answer names {answer['name']!r}")
        if isinstance(answer, Failure):
            self.close()
            for later in waiting:
                self._program().send(later)
        return answer


class _Program:
    """One process; threads write to it and drain it, so that neither side can block the other for ever."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        try:
            if not command:
                raise ValueError("the command is empty")
            self._child = subprocess.Popen(  # noqa: S603 - running the caller's command is what this is for
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment), start_new_session=True
            )
        except (OSError, ValueError) as error:
            text = f"cannot start the implementation {shlex.join(command)!r}: {error}"
            raise HarnessError(Failure("exited", text)) from error
        assert self._child.stdin
        assert self._child.stdout
        assert self._child.stderr
        self._requests: queue.Queue[bytes | None] = queue.Queue()
        self._answers: queue.Queue[bytes | None] = queue.Queue(2 * WINDOW)  # a chatterbox is left to wait
        self._errors: deque[bytes] = deque(maxlen=_LAST_WORDS)
        self._threads = [
            threading.Thread(target=_write, args=(self._requests, self._child.stdin), daemon=True),
            threading.Thread(target=_drain, args=(self._child.stdout, self._answers), daemon=True),
            threading.Thread(target=self._errors.extend, args=(self._child.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, request: Mapping[str, Any]) -> None:
        """Hand over a question; a program that is gone is noticed where its answer is missing."""
        self._requests.put(json.dumps(request, separators=(",", ":")).encode() + b"\n")

    def receive(self, seconds: float) -> Answer:
        """Return the next answer, or why there is none."""
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            return Failure("timeout", f"no answer within {seconds:g} s")
        if line is None:
            return Failure("exited", self._farewell())
        if len(line) >= LONGEST_LINE:
            return Failure("bad-line", f"the answer is longer than {LONGEST_LINE:,} bytes: {_shown(line)}")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return Failure("bad-line", f"the answer is not JSON: {_shown(line)}")
        if not isinstance(answer, dict):
            return Failure("bad-line", f"the answer is no JSON object: {_shown(line)}")
        return answer

    def _farewell(self) -> str:
        """Say how the program ended, with the last that it wrote to standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        self._threads[2].join(5)
        code = self._child.poll()
        how = "closed its output" if code is None else f"exited with code {code}"
        words = b"".join(self._errors).decode(errors="replace").strip()
        return f"the implementation {how} without an answer" + (f": {words}" if words else "")

    def end(self) -> None:
        """Kill the program with its own children, which hold its streams too."""
        self._requests.put(None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        while self._threads[1].is_alive():
            with contextlib.suppress(queue.Empty):
                self._answers.get(timeout=0.05)
        for thread in self._threads:
            thread.join(5)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                with contextlib.suppress(OSError):
                    stream.close()


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        text = f"cannot start the implementation {_shown(command.encode(errors='replace'))}: {error}"
        raise HarnessError(Failure("exited", text)) from None


def _write(lines: queue.Queue[bytes | None], stream: IO[bytes]) -> None:
    while (line := lines.get()) is not None:
        try:
            stream.write(line)
            stream.flush()
        except (OSError, ValueError):
            return


def _drain(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    while line := stream.readline(LONGEST_LINE):
        if line.strip():
            lines.put(line)
    lines.put(None)


def _shown(line: bytes) -> str:
    text = line[: 8 * _SHOWN].decode(errors="replace").strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
