"""
The client tells answers from all that can be in their place, and never waits for ever.
"""

from __future__ import annotations

import os
import sys
import threading

import pytest

from dra_alloc.testing.client import Client, Failure, HarnessError, _lines

OURS = [sys.executable, "-m", "dra_alloc", "harness"]
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


#: It leaves the group that is killed, and holds every stream open.
GRANDCHILD = "import os, time; os.fork() or os.setsid(); time.sleep(3)"


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def numbered(count: int):
    return ({"op": "quantity", "value": str(number), "name": str(number)} for number in range(count))


def test_answers_come_in_the_order_of_the_questions():
    with Client(OURS) as client:
        answers = list(client.ask_all(numbered(300)))
    assert [answer["value"] for answer in answers if not isinstance(answer, Failure)] == list(range(300))
    assert client.starts == 1


def test_a_command_line_is_split_as_a_shell_would():
    with Client(f"{sys.executable} -c 'import sys; print(sys.stdin.readline(), flush=True)'") as client:
        assert client.ask({"op": "quantity"}) == {"op": "quantity"}


@pytest.mark.parametrize(
    ("program", "kind", "text"),
    [
        ("pass", "exited", "exited with code 0 without an answer"),
        ("import sys; sys.exit('no such device')", "exited", "exited with code 1 without an answer: no such device"),
        ("print('hello', flush=True)", "bad-line", "the answer is not JSON: 'hello'"),
        ("print('[' * 100_000, flush=True)", "bad-line", "the answer is not JSON: '[[["),
        ("print('[1]', flush=True)", "bad-line", "the answer is no JSON object: '[1]'"),
        ('print(\'{"name": "b"}\', flush=True)', "out-of-order", "asked 'a', the answer names 'b'"),
        ("print('{\"a\": NaN}', flush=True)", "bad-line", "the answer is not JSON"),
        ("print('{\"a\": 1e400}', flush=True)", "bad-line", "the answer is not JSON"),
        ("print('{\"a\": ' + '[' * 300 + ']' * 300 + '}', flush=True)", "bad-line", "nested deeper than 200 levels"),
        ("while True: print('x' * 100_000, end='')", "bad-line", "the answer is longer than 4,194,304 bytes: 'xxx"),
        ("import sys\nwhile True: sys.stderr.write('x' * 100_000)", "timeout", "no answer within 0.3 s"),
        ("import os, time; os.close(1); time.sleep(60)", "exited", "closed its output without an answer"),
        (GRANDCHILD, "timeout", "no answer within 0.3 s"),
        ("import time; time.sleep(60)", "timeout", "no answer within 0.3 s"),
    ],
)
def test_why_there_is_no_answer(program, kind, text):
    with (
        Client(python(program), seconds=0.3 if kind == "timeout" else 30) as client,
        pytest.raises(HarnessError) as caught,
    ):
        client.ask({"name": "a", "long": "x" * 100_000})
    assert caught.value.failure.kind == kind
    assert text in str(caught.value)


@pytest.mark.parametrize("command", ["", "no-such-program-anywhere", "a\0b"])
def test_a_command_that_cannot_be_started(command):
    with Client(command) as client, pytest.raises(HarnessError, match="cannot start the implementation"):
        client.ask({})


def test_after_a_failure_the_rest_is_asked_again():
    dies_at_two = """
import sys, json
for line in sys.stdin:
    if json.loads(line)["value"] == "2": sys.exit(7)
    print(line, end="", flush=True)
"""
    with Client(python(dies_at_two)) as client:
        answers = list(client.ask_all(numbered(5)))
    assert [isinstance(answer, Failure) for answer in answers] == [False, False, True, False, False]
    assert client.starts == 2


def test_a_program_that_does_not_read_cannot_block_the_client():
    big = ({"value": "x" * 100_000} for _ in range(100))
    with Client(python("import time; time.sleep(60)"), seconds=0.2) as client:
        answers = client.ask_all(big)
        assert isinstance(next(answers), Failure)


def test_a_program_that_never_stops_talking_is_left_to_wait():
    with Client(python("while True: print('{}', flush=True)")) as client:
        assert client.ask({}) == {}


def test_answers_on_the_way_are_not_taken_for_later_ones():
    with Client(python(ECHO)) as client:
        for answer in client.ask_all(numbered(200)):
            assert not isinstance(answer, Failure)
            break
        assert client.ask({"name": "later", "value": 1}) == {"name": "later", "value": 1}


def test_children_of_a_shell_end_with_it():
    with Client(["sh", "-c", "sleep 60; true"], seconds=0.2) as client, pytest.raises(HarnessError):
        client.ask({})


def test_a_line_without_an_end_is_no_answer(monkeypatch):
    monkeypatch.setattr("dra_alloc.testing.client.LONGEST_LINE", 1000)
    with Client(python("print('[' * 100_000, flush=True)")) as client, pytest.raises(HarnessError) as caught:
        client.ask({})
    assert caught.value.failure.kind == "bad-line"
    assert str(caught.value).startswith("the answer is longer than 1,000 bytes: '[[[")
    assert len(str(caught.value)) < 300


def test_of_a_line_that_is_too_long_there_is_something_wherever_it_begins():
    for begins in (b"", b"short\n"):
        reading, writing = os.pipe()
        os.write(writing, begins + b"x" * 100)
        over = threading.Event()
        lines = _lines(reading, 10, over)
        assert [next(lines) for _ in range(begins.count(b"\n") + 1)][-1] == b"x" * 100
        os.write(writing, b"x\nnext\n")
        assert next(lines) == b"next"
        over.set()
        assert not list(lines)
        for each in (reading, writing):
            os.close(each)
