"""
The page on conformance is what its generator writes, and says what the runs say.
"""

from __future__ import annotations

import pytest

from dra_alloc.traits import TRAITS
from fuzz.recording import RUNS, Record, append, read
from fuzz.report import PAGE, main, page


def run(**changes) -> Record:
    given = {"tool": "differential", "release": "1.36.2", "setting": "stable", "seed": 1, "cases": 100}
    return Record(**{**given, "differences": 0, "seconds": 60.0, **changes})


def row(text: str, *start: str) -> list[str]:
    """The cells of the only table row that begins so."""
    (found,) = (line for line in text.splitlines() if line.startswith(f"| {' | '.join(start)} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_the_page_is_as_generated():
    assert PAGE.read_text(encoding="utf-8") == page(read(RUNS)), "run python -m fuzz.report --write"
    assert main([]) == 0


def test_every_divergence_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    defects = [trait for trait, records in TRAITS.items() if any(record.defect for record in records)]
    assert len(defects) > 5
    assert not [trait for trait in defects if f"| `{trait}` |" not in text]


def test_runs_of_one_setting_add_up():
    runs = [
        run(
            seed=1,
            allocated=40,
            backtracking=10,
            explained={"pool-order": 3, "step-limit": 4},
            missing_pairs=(("All", "aggregated"), ("All", "config")),
        ),
        run(
            seed=2,
            allocated=30,
            backtracking=4,
            differences=2,
            missing_pairs=(("All", "aggregated"), ("All", "listAttribute")),
        ),
    ]
    text = page(runs)
    assert row(text, "1.36.2", "stable")[2:] == ["200", "196", "2", "3", "35%", "7%", "1", "1, 2"]
    assert "196 comparisons with upstream, 2 unexplained differences" in text
    assert row(text, "`pool-order`")[1] == "3"


def test_the_same_cases_count_once_and_the_last_run_of_them_counts():
    text = page([run(differences=5), run(start=20_000), run()])
    assert row(text, "1.36.2", "stable")[2:5] == ["200", "200", "0"]


def test_features_are_counted_by_channel():
    text = page([run(seen={"taints": 7}), run(setting="experimental", seen={"taints": 1234})])
    assert row(text, "`taints`") == ["`taints`", "7 / - / 1,234"]


def test_releases_are_in_order_of_their_numbers():
    text = page([run(release=release) for release in ("1.37.0", "1.36.10", "1.37.0-alpha.2", "1.36.2")])
    rows = [line.split()[1] for line in text.splitlines() if " | stable | " in line and "," not in line.split()[1]]
    assert rows == ["1.36.2", "1.36.10", "1.37.0-alpha.2", "1.37.0"]


def test_a_record_is_read_as_it_was_written(tmp_path):
    made = run(explained={"b": 1, "a": 2}, missing_pairs=(("x", "y"),), on="2026-01-01", commit="abc")
    append(tmp_path / "runs.jsonl", made)
    append(None, made)
    assert read(tmp_path / "runs.jsonl") == [made]


def test_when_and_at_which_commit_is_added(tmp_path):
    append(tmp_path / "runs.jsonl", run())
    (found,) = read(tmp_path / "runs.jsonl")
    assert found.on
    assert found.commit


def test_a_line_that_is_no_record_is_named(tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"tool": "x"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"^runs\.jsonl:1: "):
        read(tmp_path / "runs.jsonl")
