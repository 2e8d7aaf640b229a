"""
The commands `lint` and `rule`: exit codes, reports and baselines.
"""

from __future__ import annotations

import json

import pytest

from dra_alloc.cli.main import run
from dra_alloc.linting import fixing
from dra_alloc.linting.codes import RULES
from dra_alloc.linting.pages import RulePage, page_of
from tests.manifests import write_manifest


def page(code: str) -> RulePage:
    found = page_of(code)
    assert found is not None
    return found


PAGE = page("S101")
INFO = page("R704")


def test_exit_codes(tmp_path, capsys):
    bad, good = write_manifest(tmp_path, PAGE.bad, "bad.yaml"), write_manifest(tmp_path, PAGE.good, "good.yaml")
    info = write_manifest(tmp_path, INFO.bad, "info.yaml")
    broken = write_manifest(tmp_path, "[", "broken.yaml")
    asked: list[list[object]] = [
        [bad],
        [good],
        [info],
        [bad, "--exit-zero"],
        [broken, "--exit-zero"],
        [good, "--select", "X"],
    ]
    assert [run(["lint", *map(str, each)]) for each in asked] == [1, 0, 0, 0, 2, 2]
    assert run(["lint", str(tmp_path / "absent.yaml")]) == 2
    capsys.readouterr()
    assert run(["lint", str(good)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing found in 1 object (Kubernetes 1.36)"


def test_a_finding_is_told_with_code_and_place(tmp_path, capsys):
    bad = write_manifest(tmp_path, PAGE.bad)
    run(["lint", str(bad)])
    told = capsys.readouterr().out
    assert f"{bad}:8:7: S101 error:" in told.replace("\n    ", " ")
    assert "ResourceClaim one: spec.devices.requests[0].deviceClassName: unknown field" in " ".join(told.split())
    assert 'move it below "exactly"' in " ".join(told.split())


def test_no_place_is_broken(tmp_path, capsys):
    folder = tmp_path / "a folder of a team" / "with a long name" / "for manifests of claims"
    folder.mkdir(parents=True)
    bad, broken = write_manifest(folder, PAGE.bad, "one claim.yaml"), write_manifest(folder, "[", "broken file.yaml")
    assert run(["lint", str(folder)]) == 2
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if line.startswith((f"{bad}:8:7:", f"{broken}:1"))] == [told[0], f"{bad}:8:7:"]
    assert run(["lint", str(bad), "--cluster", str(broken)]) == 2
    assert f"{broken}:" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["lint", "validate"])
@pytest.mark.parametrize("name", ["{{ .Values.name }}", '"{{ .Values.name }}"'])
def test_templates_alone_are_named_and_bad_input(command, name, tmp_path, capsys):
    template = write_manifest(tmp_path, PAGE.good.replace("name: one", f"name: {name}"), "template.yaml")
    assert run([command, str(template)]) == 2
    assert capsys.readouterr().err.startswith(f"warning: {template}:3: ")
    write_manifest(tmp_path, PAGE.good, "good.yaml")
    assert run([command, str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "in 1 object" in told.out or "with 1 object" in told.out
    assert str(template) in told.err


def test_findings_come_by_file_line_and_column(tmp_path, capsys):
    flow = PAGE.bad.replace("      deviceClassName", "      nothing: {}\n      deviceClassName")
    for name, text in (("b.yaml", flow), ("a.yaml", INFO.bad), ("c.yaml", f"{INFO.bad}---\n{PAGE.bad}")):
        write_manifest(tmp_path, text, name)
    run(["lint", str(tmp_path), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    places = [(each["file"], each["line"], each["column"]) for each in found]
    assert len(places) == 5
    assert places == sorted(places)


def test_reports_have_code_and_fingerprint(tmp_path):
    bad, good = write_manifest(tmp_path, PAGE.bad, "bad.yaml"), write_manifest(tmp_path, PAGE.good, "good.yaml")
    report = tmp_path / "found.sarif"
    run(["lint", str(bad), "--report", f"sarif={report}"])
    (result,) = json.loads(report.read_text(encoding="utf-8"))["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], result["level"], region) == ("S101", "error", {"startLine": 8, "startColumn": 7})
    before = result["partialFingerprints"]
    bad.write_text(f"# moved\n{PAGE.bad}", encoding="utf-8")
    run(["lint", str(bad), "--report", f"sarif={report}"])
    assert json.loads(report.read_text(encoding="utf-8"))["runs"][0]["results"][0]["partialFingerprints"] == before
    run(["lint", str(good), "--report", f"sarif={report}"])
    assert json.loads(report.read_text(encoding="utf-8"))["runs"][0]["results"] == []


def test_files_are_mended_in_place(tmp_path, capsys):
    bad = write_manifest(tmp_path, f"{PAGE.bad}  # ours\n", "bad.yaml")
    bad.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(bad)
    assert run(["lint", str(link), "--diff"]) == 1
    assert "\n+      exactly:\n" in capsys.readouterr().out
    assert "exactly" not in bad.read_text(encoding="utf-8")
    assert run(["lint", str(link), "--fix"]) == 0
    told = capsys.readouterr()
    assert (told.err, told.out.splitlines()[-1]) == (
        f"{link}: 1 finding mended\n",
        "nothing found in 1 object (Kubernetes 1.36)",
    )
    assert link.is_symlink()
    assert bad.stat().st_mode & 0o777 == 0o640
    once = bad.read_text(encoding="utf-8")
    assert once == f"{PAGE.good}  # ours\n"
    assert run(["lint", str(link), "--fix"]) == 0
    assert bad.read_text(encoding="utf-8") == once
    assert run(["lint", str(link), "--diff"]) == 0


def test_what_cannot_be_mended_is_told_after_mending(tmp_path, capsys):
    two = write_manifest(tmp_path, f"{PAGE.bad}---\n{page('S121').bad}")
    assert run(["lint", str(two), "--fix"]) == 1
    told = capsys.readouterr().out
    assert "S121 error" in told
    assert "S101" not in told


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path, monkeypatch):
    bad = write_manifest(tmp_path, PAGE.bad)
    mended = fixing.mended

    def changing(*given, **more):
        found = list(mended(*given, **more))
        bad.write_text("# changed\n", encoding="utf-8")
        return found

    monkeypatch.setattr(fixing, "mended", changing)
    assert run(["lint", str(bad), "--fix"]) == 2
    assert bad.read_text(encoding="utf-8") == "# changed\n"
    assert run(["lint", "-", "--fix"]) == 2


def test_what_is_in_the_baseline_is_not_told(tmp_path, capsys):
    bad, baseline = write_manifest(tmp_path, PAGE.bad), tmp_path / "known.json"
    assert run(["lint", str(bad), "--write-baseline"]) == 2
    assert run(["lint", str(bad), "--baseline", str(baseline)]) == 2
    assert run(["lint", str(bad), "--baseline", str(baseline), "--write-baseline"]) == 0
    capsys.readouterr()
    assert run(["lint", str(bad), "--baseline", str(baseline)]) == 0
    assert "1 in the baseline" in capsys.readouterr().out
    bad.write_text(f"{PAGE.bad}---\n{PAGE.bad.replace('one', 'two')}", encoding="utf-8")
    assert run(["lint", str(bad), "--baseline", str(baseline)]) == 1
    bad.write_text(PAGE.good, encoding="utf-8")
    capsys.readouterr()
    assert run(["lint", str(bad), "--baseline", str(baseline)]) == 0
    assert "1 of the baseline are not found any more" in capsys.readouterr().out
    baseline.write_text("{}", encoding="utf-8")
    assert run(["lint", str(bad), "--baseline", str(baseline)]) == 2


@pytest.mark.parametrize("code", ["E203", "e203"])
def test_rule_prints_the_page_of_a_code(code, capsys):
    assert run(["rule", code]) == 0
    told = capsys.readouterr().out
    assert told.startswith("E203 (warning): the selectors match nothing that is published\n")
    assert "Wrong:" in told
    assert "Right:" in told


def test_rule_lists_all_codes(capsys):
    assert run(["rule"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [rule.code for rule in RULES]
    assert run(["rule", "E2033"]) == 2
    assert "did you mean E203?" in capsys.readouterr().err


def test_a_baseline_replaces_no_input(tmp_path, capsys):
    bad = write_manifest(tmp_path, PAGE.bad)
    link = tmp_path / "link.json"
    link.symlink_to(bad)
    for target in (bad, link):
        assert run(["lint", str(tmp_path), "--baseline", str(target), "--write-baseline"]) == 2
        assert "is one of the files to read" in " ".join(capsys.readouterr().err.split())
    assert bad.read_text(encoding="utf-8") == PAGE.bad


def test_a_baseline_that_is_nested_too_deeply_is_bad_input(tmp_path, capsys):
    good, baseline = write_manifest(tmp_path, PAGE.good), write_manifest(tmp_path, "[" * 200_000, "known.json")
    assert run(["lint", str(good), "--baseline", str(baseline)]) == 2
    assert "is no JSON" in " ".join(capsys.readouterr().err.split())


def test_what_ran_out_of_budget_is_undecided_and_no_baseline(tmp_path, capsys):
    costly = page("E203")
    manifest = write_manifest(tmp_path, costly.bad)
    cluster, baseline = write_manifest(tmp_path, costly.cluster, "cluster.yaml"), tmp_path / "known.json"
    asked = ["lint", str(manifest), "--cluster", str(cluster), "--budget", "1"]
    for way in (["--diff"], ["--baseline", str(baseline), "--write-baseline"]):
        assert run([*asked, *way]) == 3
        assert "ran out" in capsys.readouterr().err
    assert not baseline.exists()


def test_what_was_not_looked_at_is_green_in_no_format(tmp_path, capsys):
    costly = page("E203")
    excused = costly.bad.replace("selectors:", "selectors: # dra-alloc: ignore[E203] next week")
    manifest, cluster = write_manifest(tmp_path, excused), write_manifest(tmp_path, costly.cluster, "cluster.yaml")
    asked = ["lint", str(manifest), "--cluster", str(cluster), "--budget", "1"]
    assert run(asked) == 3
    out = capsys.readouterr().out
    assert "L901" not in out
    assert "nothing found so far" in out
    assert run([*asked, "--format", "junit"]) == 3
    assert 'failures="0" errors="1"' in capsys.readouterr().out
    assert run([*asked, "--format", "json"]) == 3
    assert "ran out" in json.loads(capsys.readouterr().out)["undecided"]


def test_slices_are_compared_with_those_before(tmp_path, capsys):
    compared = page("P509")
    before = write_manifest(tmp_path, compared.previous, "before.yaml")
    bad, good = write_manifest(tmp_path, compared.bad, "bad.yaml"), write_manifest(tmp_path, compared.good, "good.yaml")
    assert run(["lint", str(bad)]) == 0
    assert run(["lint", str(good), "--previous", str(before)]) == 0
    assert run(["lint", str(bad), "--previous", str(before)]) == 1
    assert "P509 error" in capsys.readouterr().out
    assert run(["lint", str(bad), "--previous", str(tmp_path / "absent.yaml")]) == 2
    assert run(["rule", "P509"]) == 0
    assert "\nBefore:\n" in capsys.readouterr().out
