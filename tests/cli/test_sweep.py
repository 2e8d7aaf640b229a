"""
`dra-alloc what-if --sweep`: what is asked, what is told, exit codes.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dra_alloc.cli import sweeping
from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.main import run
from dra_alloc.report.sweep_report import sweep_report
from dra_alloc.scenario.sweep import answering
from dra_alloc.scenario.sweep.questions import SweepRow
from dra_alloc.scenario.sweep.sweeping import sweep
from tests.paths import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "what-if"
CLUSTER = str(EXAMPLE / "cluster.yaml")
DRAIN = "steps: [{drainNodes: {names: [gpu-a]}}]"
ADD = "steps: [{addNodes: {like: gpu-a}}]"


@pytest.fixture
def here(monkeypatch):
    """Have questions answered in this process: one of their own is what `test_every_combination_is_asked` has."""
    with ThreadPoolExecutor(1) as thread:
        monkeypatch.setattr(sweeping, "sweep", lambda questions, workers: sweep(questions, thread))
        yield


@pytest.fixture
def swept(tmp_path, capsys):
    def asked(files: dict[str, str], *arguments: str):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        given = [str(tmp_path / name) for name in files]
        code = run(["what-if", "--sweep", *given, "--workers", "1", *map(str, arguments)])
        return code, *capsys.readouterr()

    return asked


def test_every_combination_is_asked(swept, tmp_path):
    plan = f"scenarios: {{a: {{{DRAIN}}}, b: {{{ADD}}}}}\nclusters: [{CLUSTER}]\n"
    axes = "releases: ['1.36', '1.37']\ngates: [{}, {DRAListTypeAttributes: true}]\n"
    rows = tmp_path / "rows.jsonl"
    code, out, err = swept({"p.yaml": plan, "axes.yaml": axes, "c.yaml": ADD}, "--format", "json", "--rows", rows)
    assert code == 1
    found = json.loads(out)["rows"]
    asked = [(each["release"], len(each["gates"]), each["scenario"].rpartition("/")[2]) for each in found]
    assert asked == [
        (release, gates, name) for release in ("1.36", "1.37") for gates in (0, 1) for name in ("a", "b", "c.yaml")
    ]
    assert {each["cluster"] for each in found} == {CLUSTER}
    assert found[0]["summary"] == {"no longer fits": 1, "moves": 1, "stays": 1}
    assert "12 of 12 asked" in err
    lines = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert sorted(lines, key=lambda each: each["place"]) == found


def test_few_questions_read_the_cluster_once(tmp_path, capsys, monkeypatch):
    files, read = [tmp_path / name for name in ("a.yaml", "b.yaml")], list[str]()

    def noted(load):
        def loading(paths, **how):
            read.extend(paths)
            return load(paths, **how)

        return loading

    for file, text in zip(files, (DRAIN, ADD), strict=True):
        file.write_text(text, encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text(Path(CLUSTER).read_text(encoding="utf-8"), encoding="utf-8")
    cluster = str(tmp_path / "cluster.yaml")
    for each in (sweeping, answering):
        monkeypatch.setattr(each, "load_readable", noted(each.load_readable))
    assert run(["what-if", "--sweep", *map(str, files), "--cluster", cluster, "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [each["summary"].get("no longer fits", 0) for each in rows] == [1, 0]
    assert read == [cluster]


def test_a_packed_cluster_and_several_files_answer_alike(here, swept, tmp_path, capsys):
    packed = tmp_path / "cluster.snapshot"
    assert run(["snapshot", "pack", CLUSTER, "-o", str(packed)]) == 0
    capsys.readouterr()
    two = f"{DRAIN}\n---\n{ADD}\n"
    told = [
        json.loads(swept({"s.yaml": two}, "--cluster", each, "--format", "json")[1])["rows"]
        for each in (packed, CLUSTER)
    ]
    for each in (*told[0], *told[1]):
        del each["cluster"]
    assert told[0] == told[1]
    assert [each["scenario"].rpartition("/")[2] for each in told[0]] == ["s.yaml#1", "s.yaml#2"]


def test_manifests_alone_are_one_question_under_each_release(here, swept):
    more = EXAMPLE.with_name("capacity") / "more.yaml"
    code, out, _ = swept({"r.yaml": "releases: ['1.36', '1.37']"}, "-f", more, "--cluster", CLUSTER)
    assert code == 1
    assert "2 questions: 2 worse" in out


def test_what_is_wrong_with_one_question_is_in_its_row(here, swept):
    code, out, _ = swept({"a.yaml": ADD, "b.yaml": "steps: [{cordonNodes: {names: [gpu-q]}}]"}, "--cluster", CLUSTER)
    assert code == 2
    assert "there is no node gpu-q (did you mean gpu-" in out
    assert "2 questions: 1 no worse, 1 with bad input" in out


def test_all_that_is_wrong_is_told_at_once(swept):
    files = {
        "a.yaml": "steps: [{cordonNode: {}}]",
        "b.yaml": "scenarios: {x: {steps: [{addNodes: {count: 0}}]}}\nrelease: ['1.36']",
        "c.yaml": "scenarios: {x: {steps: [{addNodes: {count: 0}}]}}",
        "d.yaml": "",
        "e.yaml": "steps: [",
        "f.yaml": "---\n---\nsteps: [{cordonNode: {}}]\n---\nreleases: []\nrelease: x\n",
    }
    code, out, err = swept(files, "--cluster", CLUSTER)
    assert (code, out) == (2, "")
    for said in (
        "a.yaml:1: steps[0]: unknown kind of step 'cordonNode' (did you mean cordonNodes?)",
        "b.yaml:2: release: unknown field (did you mean releases?)",
        "c.yaml:1: scenarios.x.steps[0].addNodes.count: Input should be greater",
        "d.yaml: there is no scenario in it",
        "e.yaml:",
        "f.yaml:3: steps[0]: unknown kind of step 'cordonNode'",
        "f.yaml:6: release: unknown field",
    ):
        assert said in err
    code, _, err = swept(
        {"a.yaml": ADD, "r.yaml": "releases: ['1.2', '1.3']\ngates: [{Nonsense: true}]"}, "--cluster", CLUSTER
    )
    assert code == 2
    assert "1.2" in err
    assert "1.3" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there is no cluster to change"),
        (("--cluster", CLUSTER, "-f", "-"), "its processes have none"),
        (("--cluster", CLUSTER, "--base", CLUSTER), "--base says what --manifests replace"),
        (("--cluster", CLUSTER, "--rows", "-"), "--rows writes to a file"),
        (("--cluster", CLUSTER, "--rows", CLUSTER), "is one of the files to read"),
        (("--cluster", "nothing.yaml"), "cannot be read"),
    ],
)
def test_options_that_do_not_go_together(arguments, said, swept):
    code, out, err = swept({"a.yaml": ADD}, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_a_sweep_has_no_other_scenario(swept, tmp_path, capsys):
    assert swept({"a.yaml": ADD}, "--cluster", CLUSTER, str(tmp_path / "a.yaml"))[0] == 2
    assert swept({"r.yaml": "releases: ['1.36']"}, "--cluster", CLUSTER)[0] == 2
    assert swept({"r.yaml": f"clusters: [{CLUSTER}]"}, "--cluster", CLUSTER, "-f", CLUSTER)[0] == 2
    assert run(["what-if", "x.yaml", "--cluster", CLUSTER, "--rows", "r"]) == 2
    assert "--rows and --workers are for --sweep" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--rows", "--report"])
@pytest.mark.parametrize("over", ["c.yaml", "more/new.yaml"])
def test_nothing_is_written_over_what_a_sweep_reads(option, over, swept, tmp_path):
    (tmp_path / "more").mkdir()
    kept = {"c.yaml": (EXAMPLE / "cluster.yaml").read_text(encoding="utf-8"), "more/new.yaml": "kind: None\n"}
    for name, text in kept.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    apply = "scenarios: {x: {steps: [{apply: {paths: [more]}}]}}"
    target = tmp_path / over
    for wrong in ("", "release: x\n"):
        files = {"p.yaml": f"clusters: [c.yaml]\n{apply}\n{wrong}"}
        code, out, err = swept(files, option, f"json={target}" if option == "--report" else target)
        assert (code, out) == (2, "")
        assert f"{target} is one of the files to read" in err.replace("\n", " ")
        assert {each: (tmp_path / each).read_text(encoding="utf-8") for each in kept} == kept


def test_rows_and_a_report_are_two_files(swept, tmp_path):
    rows = tmp_path / "rows"
    code, _, err = swept({"a.yaml": ADD}, "--cluster", CLUSTER, "--rows", rows, "--report", f"json={tmp_path}/./rows")
    assert code == 2
    assert f"--rows and --report both name {rows}" in err.replace("\n", " ")
    assert not rows.exists()


@pytest.mark.parametrize("wrong", ["clusters: [missing.yaml]", "releases: ['1.2']"])
def test_bad_input_leaves_the_rows_of_an_earlier_sweep(wrong, swept, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("earlier\n", encoding="utf-8")
    cluster = () if "clusters" in wrong else ("--cluster", CLUSTER)
    assert swept({"p.yaml": wrong, "a.yaml": ADD}, *cluster, "--rows", rows)[0] == 2
    assert rows.read_text(encoding="utf-8") == "earlier\n"


def test_who_may_hold_up_a_drain_leaves_a_question_undecided():
    row = SweepRow(0, "a", "c", "1.37", {}, {"stays": 1}, unsure={"shop/web-0": "its budget needs 2"})
    report = sweep_report([row])
    assert [(each.level, each.code) for each in report.findings] == [("warning", "undecided")]
    assert "shop/web-0 (Pod) may hold up its drain: its budget needs 2" in "\n".join(report.whole.lines())
    assert row.members()["unsure"] == {"shop/web-0": "its budget needs 2"}
    assert sweeping._code([row]) == ExitCode.UNDECIDED


def test_a_scenario_without_steps_is_what_others_are_held_against(here, swept):
    code, out, _ = swept({"p.yaml": f"scenarios: {{as it is: {{steps: []}}, more: {{{ADD}}}}}"}, "--cluster", CLUSTER)
    assert code == 0
    assert "2 questions: 2 no worse" in out


def test_a_row_is_called_by_what_others_have_otherwise(here, swept):
    plan = f"scenarios: {{drained: {{{DRAIN}}}}}\nreleases: ['1.36', '1.37']"
    code, out, _ = swept({"p.yaml": plan}, "--cluster", CLUSTER)
    assert code == 1
    assert "\ndrained (1.37): 1 no longer fits" in out
    assert out.count(CLUSTER) == 1


def test_an_unknown_release_is_one_problem(swept):
    plan = f"scenarios: {{x: {{{ADD}}}}}\nreleases: ['9.9']\ngates: [{{}}, {{DRAListTypeAttributes: true}}]"
    assert swept({"p.yaml": plan}, "--cluster", CLUSTER)[2].count("unknown release") == 1


def test_releases_and_gates_that_are_none_are_told_with_their_lines_whatever_else_is_missing(swept, tmp_path):
    plan = "releases: ['1.36', '9.9']\ngates:\n- {DRAAdminAccess: true}\n- {Nonsense: true}\n"
    code, _, err = swept({"p.yaml": plan}, "--cluster", CLUSTER)
    assert code == 2
    assert f"{tmp_path / 'p.yaml'}:1: releases[1]: unknown release '9.9'" in err
    assert f"{tmp_path / 'p.yaml'}:4: gates[1]: release 1.36.6 has no feature gate 'Nonsense'" in err
    assert "2 problems in the input" in err
    code, _, err = swept({"p.yaml": "releases: 3\n"})
    assert (code, "p.yaml:1: releases: has to be a list" in err) == (2, True)
    second = f"scenarios: {{x: {{{ADD}}}}}\n---\nreleases: ['9.9']\n"
    assert "p.yaml:3: releases[0]: unknown release" in swept({"p.yaml": second}, "--cluster", CLUSTER)[2]
