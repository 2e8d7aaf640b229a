"""Options that are nearly right: what is said, and that something can be done about it."""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc import cel
from dra_alloc.cli.main import run
from dra_alloc.errors import InputError
from dra_alloc.releases import NEWEST, note_on, parse_release

#: Lines of which only a pre-release is known.
NOT_OUT = {line for line, newest in NEWEST.items() if "-" in newest}


@pytest.mark.parametrize(
    "release", ["1.36.02", "1.036.2", "1.36.99999999999999999999", "1.36.1000", "1.99", "1.36.", "1.36.-1", "", "１.36"]
)
def test_a_release_that_cannot_be_is_refused(release: str, capsys: Any) -> None:
    assert run(["cel", "true", "--release", release]) == 2
    assert "unknown release" in capsys.readouterr().err


@pytest.mark.parametrize("line", NEWEST)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_patch_newer_than_the_newest_is_answered_as_that_with_one_note(line: str, form: str, capsys: Any) -> None:
    assert run(["cel", "true", "--release", f"{line}.99", "--format", form]) == 0
    newer = capsys.readouterr()
    assert run(["cel", "true", "--release", line, "--format", form]) == 0
    newest = capsys.readouterr()
    assert newer.out == newest.out
    kind = "pre-release" if line in NOT_OUT else "patch"
    note = f"release {line}.99 is not known here; the answer is that of {NEWEST[line]}, the newest known {kind}"
    assert newer.err == f"note: {note}\n"
    assert newest.err == (f"note: {note_on(line)}\n" if line in NOT_OUT else "")


def test_known_patches_and_prereleases_need_no_note() -> None:
    for known in (*(set(NEWEST) - NOT_OUT), *NEWEST.values(), "v1.36", "1.36.2", "1.37.0-alpha.2", "1.37.0"):
        assert note_on(known) == ""
    for line in NOT_OUT:
        assert note_on(line) == (
            f"release {line} is not out yet; the answer is that of {NEWEST[line]}, the newest known pre-release"
        )
    assert str(parse_release("1.37.0-alpha.2")) == "1.37.0-alpha.2"
    assert parse_release("1.36.99") == parse_release("1.36") == parse_release(NEWEST["1.36"])


@pytest.mark.parametrize("value", [1.36, None, b"1.36", ["1.36"], 136])
def test_a_release_that_is_no_text_is_named(value: Any) -> None:
    for call in (parse_release, note_on, cel.environment, lambda each: cel.compile("true", release=each)):
        with pytest.raises(InputError, match=r"release has to be a text such as '1\.36' or '1\.36\.2', not "):
            call(value)


@pytest.mark.parametrize("value", [None, b"true", 1, ["true"]])
def test_an_expression_that_is_no_text_is_named(value: Any) -> None:
    with pytest.raises(InputError, match="expression has to be a text such as"):
        cel.compile(value)


@pytest.mark.parametrize("value", [{}, None, "gpu-0"])
def test_a_device_that_was_not_prepared_is_named(value: Any) -> None:
    with pytest.raises(InputError, match="device has to be what prepare_device returns, not "):
        cel.compile("true").matches(value)


def test_a_gate_that_is_misspelt_is_told_the_right_one(capsys: Any) -> None:
    assert run(["cel", "true", "--gate", "DRAConsumableCapacty=false"]) == 2
    said = capsys.readouterr().err
    assert "did you mean DRAConsumableCapacity?" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
    assert run(["cel", "true", "--gate", "=true"]) == 2
    said = capsys.readouterr().err
    assert "did you mean" not in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_long_selector_is_cut_around_the_caret(capsys: Any) -> None:
    selector = "true || " * 100 + "nothing || " + "true || " * 100 + "true"
    assert run(["cel", selector]) == 2
    said = capsys.readouterr().err.splitlines()
    source, marks = (line for line in said if line.startswith(" | "))
    assert source.startswith(" | …")
    assert source.endswith("…")
    assert source[len(marks) - 1 :].startswith("nothing ||")
    assert max(map(len, said)) < 200
    assert run(["cel", "a" * 60_000]) == 2
    assert len(capsys.readouterr().err) < 1_000
    assert run(["cel", selector, "--format", "json"]) == 2
    assert selector in capsys.readouterr().err


def test_a_short_selector_is_shown_whole(capsys: Any) -> None:
    assert run(["cel", "nothing == 1"]) == 2
    assert capsys.readouterr().err.endswith(" | nothing == 1\n | ^\n")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--copies=1e9", "'1e9' is no whole number"),
        ("--copies=-1", "has to be at least 0"),
        ("--objective=fewest-nodes,nearest", "'nearest' is none of"),
    ],
)
def test_a_bad_value_is_said_in_the_words_of_a_user(option: str, told: str, capsys: Any) -> None:
    assert run(["gang", "claim.yaml", "--cluster", "cluster.yaml", option]) == 2
    assert told in capsys.readouterr().err


def test_steps_that_are_no_number_are_said_to_be_none(capsys: Any) -> None:
    assert run(["check", "claim.yaml", "--cluster", "cluster.yaml", "--steps=1e6"]) == 2
    assert "'1e6' is no whole number" in capsys.readouterr().err
