"""
Formats for build servers: what each reads as, that nothing in a name steers them, and files beside the answer.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from dra_alloc.cli.main import run
from dra_alloc.report import FORMATS
from tests.cli.asked import CLUSTER as SMALL
from tests.cli.asked import claim
from tests.manifests import write_manifest
from tests.paths import ROOT

EXAMPLES = ROOT / "docs" / "examples"
CLUSTER = ("--cluster", str(EXAMPLES / "cluster"))
MIXED, FITS = str(EXAMPLES / "workloads" / "mixed.yaml"), str(EXAMPLES / "workloads" / "fits.yaml")
#: The claims of mixed.yaml that fit on no node, with the lines on which they begin.
REFUSED = {"inference/long-context": 22, "inference/two-halves-and-more": 38}
#: More than the small cluster has.
NINE = "deviceClassName: any, count: 9"
HOSTILE = "a\u202e</script>::error::x]]>\x1b[2J"


def asked(capsys, *arguments):
    code = run(["check", *arguments])
    return code, capsys.readouterr().out


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What each format says of mixed.yaml: one run with a file for each."""
    folder = tmp_path_factory.mktemp("told")
    files = [("--report", f"{form}={folder / form}") for form in FORMATS]
    assert run(["check", MIXED, *CLUSTER, *(part for each in files for part in each)]) == 1
    return {form: (folder / form).read_text(encoding="utf-8") for form in FORMATS}


def test_the_lines_are_those_on_which_the_claims_begin():
    lines = (EXAMPLES / "workloads" / "mixed.yaml").read_text(encoding="utf-8").splitlines()
    for name, line in REFUSED.items():
        assert any(name.partition("/")[2] in each for each in lines[line - 1 : line + 6])


def test_sarif(told):
    log = json.loads(told["sarif"])
    (only,) = log["runs"]
    assert log["version"] == "2.1.0"
    found = {}
    for each in only["results"]:
        (place,) = each["locations"]
        assert only["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"]
        assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("workloads/mixed.yaml")
        found[place["logicalLocations"][0]["fullyQualifiedName"]] = place["physicalLocation"]["region"]["startLine"]
    assert found == REFUSED


def test_sarif_of_what_fits_has_an_empty_list(capsys):
    code, out = asked(capsys, FITS, *CLUSTER, "--format", "sarif")
    assert (code, json.loads(out)["runs"][0]["results"]) == (0, [])


@pytest.fixture
def small(tmp_path):
    """A file with two claims that fit nowhere, and the rest of what `check` is asked."""
    work = write_manifest(tmp_path, "".join(claim(each, request=NINE) for each in "ab"), "work.yaml")
    return work, (str(work), "--cluster", str(write_manifest(tmp_path, SMALL, "cluster.yaml")))


def test_fingerprints_survive_moved_lines(small, capsys):
    work, arguments = small

    def marks():
        _, out = asked(capsys, *arguments, "--format", "sarif")
        return [
            (
                each["partialFingerprints"]["draAlloc/v1"],
                each["locations"][0]["physicalLocation"]["region"]["startLine"],
            )
            for each in json.loads(out)["runs"][0]["results"]
        ]

    before = marks()
    work.write_text(f"# one line more\n{work.read_text(encoding='utf-8')}", encoding="utf-8")
    after = marks()
    assert [mark for mark, _ in before] == [mark for mark, _ in after]
    assert [line + 1 for _, line in before] == [line for _, line in after]
    assert len({mark for mark, _ in before}) == 2


def test_junit_has_a_case_for_each_answer(told):
    suite = ET.fromstring(told["junit"])
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    failed = {case.get("name"): int(case.get("line") or 0) for case in suite.iter("testcase") if len(case)}
    assert failed == REFUSED


def test_github(told):
    found = re.findall(r"^::error file=([^,]+),line=(\d+),title=[^:\n]*::(.*)$", told["github"], re.MULTILINE)
    assert [int(line) for _, line, _ in found] == list(REFUSED.values())
    assert all("%0A  cause: " in text for _, _, text in found)


def test_gitlab_and_reviewdog(told):
    issues = json.loads(told["gitlab"])
    assert [each["location"]["lines"]["begin"] for each in issues] == list(REFUSED.values())
    places = [each["location"] for each in json.loads(told["rdjson"])["diagnostics"]]
    assert [each["range"]["start"]["line"] for each in places] == list(REFUSED.values())
    assert all(each["path"].endswith("mixed.yaml") for each in places)


def test_json_has_file_and_line_of_what_fits_too(told):
    placements = json.loads(told["json"])["placements"]
    assert all(each["file"].endswith("mixed.yaml") for each in placements)
    assert all(first["line"] < second["line"] for first, second in pairwise(placements))


def test_a_markdown_comment_is_never_too_long(tmp_path, capsys):
    many = "".join(claim(f"{'long-' * 30}{number}", request=NINE) for number in range(150))
    arguments = (str(write_manifest(tmp_path, many, "work.yaml")), "--cluster", str(write_manifest(tmp_path, SMALL)))
    code, out = asked(capsys, *arguments, "--format", "markdown")
    assert code == 1
    assert len(out) < 65_536
    assert re.search(r"and \d+ more, for which a comment has no room", out)
    assert out.count("<details>") == out.count("</details>") > 1


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github", "gitlab", "rdjson", "markdown"])
def test_bad_input_is_told_in_the_format_asked_for(form, tmp_path, capsys):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": HOSTILE}, "spec": {"containers": 3}}
    (tmp_path / "bad.json").write_text(json.dumps(pod), encoding="utf-8")
    code = run(["check", str(tmp_path / "bad.json"), *CLUSTER, "--format", form])
    out, err = capsys.readouterr()
    assert code == 2
    assert "expected a list, got the number 3" in out
    assert "2 problems in the input" in err
    assert "\u202e" not in out
    assert "\x1b" not in out
    commands = [line for line in out.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == (3 if form == "github" else 0)
    assert all(re.match("::(error file=|notice title=dra-alloc::2 problems)", line) for line in commands)
    if form == "junit":
        assert len(list(ET.fromstring(out))) == 2
    elif form not in ("github", "markdown"):
        json.loads(out)


def test_reports_are_written_beside_the_answer_and_are_what_formats_print(small, tmp_path, capsys):
    _, arguments = small
    sarif, junit = tmp_path / "found.sarif", tmp_path / "found.xml"
    beside = ("--report", f"sarif={sarif}", "--report", f"junit={junit}")
    code, out = asked(capsys, *arguments, *beside)
    assert (code, out) == asked(capsys, *arguments)
    assert len(json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]["results"]) == 2
    assert ET.parse(junit).getroot().get("failures") == "2"
    for form, file in (("sarif", sarif), ("junit", junit)):
        assert asked(capsys, *arguments, "--format", form) == (1, file.read_text(encoding="utf-8"))


def test_reports_of_bad_input_are_written_too(tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text("kind: [", encoding="utf-8")
    code, out = asked(capsys, str(tmp_path / "bad.yaml"), *CLUSTER, "--report", f"sarif={tmp_path / 'found.sarif'}")
    assert (code, out) == (2, "")
    assert json.loads((tmp_path / "found.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        (["sarif"], "is not of the form FORMAT=FILE"),
        (["yaml=x"], "is not of the form FORMAT=FILE"),
        (["sarif=/no/such/folder/x"], "cannot be written"),
        (["sarif=-"], "standard output has the answer"),
        (["sarif=x", "junit=x"], "twice"),
    ],
)
def test_reports_that_cannot_be_written_are_refused_before_anything_is_asked(
    reports, why, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code = run(["check", FITS, *CLUSTER, *(part for each in reports for part in ("--report", each))])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert why in " ".join(err.split())
    assert not list(tmp_path.iterdir())
