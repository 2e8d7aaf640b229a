"""
Runs what this repository offers others, from a clean clone of it: pre-commit hooks, an action, a GitLab component.

    python .ci/offered.py CLONE FOLDER

Needs what the dependency group `dev` installs. Steps of the action and lines of the component are run by a shell, with
inputs and variables set as their services set them; that their files are well-formed, the services' JSON schemas say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import yaml

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}}
"""
#: The manifests of the other repository: one that is right, one that is refused on its fourth line.
MANIFESTS = {
    "right/one claim.yaml": CLAIM.replace("NAME", "right").replace("COUNT", "1"),
    "wrong/a claim.yaml": CLAIM.replace("NAME", "wrong").replace("COUNT", "-1"),
}
REFUSAL = "must be greater than zero"
PLACE = ("wrong/a claim.yaml", 4)


def main(clone: Path, folder: Path) -> None:
    """Run all, in a repository made in the folder. Raises: AssertionError with what was told."""
    repository = folder / "repository"
    for name, text in MANIFESTS.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LC_", "SSL_"))}
    hooks(clone, repository, environment | {"PRE_COMMIT_HOME": str(folder / "hooks")})
    action(clone, repository, environment)
    component(clone, repository, environment)


def hooks(clone: Path, repository: Path, environment: dict[str, str]) -> None:
    """Run the hooks on files of the repository, as ``pre-commit run`` does."""
    subprocess.run(["pre-commit", "validate-manifest", str(clone / ".pre-commit-hooks.yaml")], check=True)
    offered = yaml.safe_load((clone / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True)
    examples = clone / "docs" / "examples"
    # Of all in one run, as each run clones and installs anew.
    args = {"dra-alloc-check": [str(examples / "workloads" / "fits.yaml"), "--cluster", str(examples / "cluster")]}
    chosen = [{"id": each["id"], "verbose": True, "args": args.get(each["id"], [])} for each in offered]
    config = {"repos": [{"repo": str(clone), "rev": head.stdout.strip(), "hooks": chosen}]}
    (repository / ".pre-commit-config.yaml").write_text(json.dumps(config), encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    expect(0, run(["pre-commit", "run", "--files", "right/one claim.yaml"], repository, environment), "nothing wrong")
    for name in ("dra-alloc-validate", "dra-alloc-lint"):
        expect(1, run(["pre-commit", "run", "--all-files", name], repository, environment), REFUSAL)


def action(clone: Path, repository: Path, environment: dict[str, str]) -> None:
    """Run the steps of the composite action, with the environment that a runner gives them."""
    text = (clone / "action.yml").read_text(encoding="utf-8")
    offered = conforming(yaml.safe_load(text), "github-actions")
    defaults = {name: each.get("default", "") for name, each in offered["inputs"].items()}
    summary = repository.parent / "summary.md"
    runner = {"runner.temp": str(repository.parent / "temp"), "github.action_path": str(clone)}

    install, ask = offered["runs"]["steps"]

    def step(which: dict[str, Any], **inputs: str) -> tuple[int, str]:
        known = runner | {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
        given = {name: filled(value, r"\${{ (\S+) }}", known) for name, value in which["env"].items()}
        summary.write_text("", encoding="utf-8")
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", which["run"]]
        return run(script, repository, environment | given | {"GITHUB_STEP_SUMMARY": str(summary)})

    expect(0, step(install, python=sys.executable), "")
    expect(0, step(ask, paths="right"), "nothing wrong with 1 object")
    both = step(ask, paths="right\nwrong/a claim.yaml\n", sarif="found.sarif")
    expect(1, both, f"::error file={PLACE[0]},line={PLACE[1]},")
    (result,) = json.loads((repository / "found.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert REFUSAL in result["message"]["text"], result
    assert REFUSAL in summary.read_text(encoding="utf-8")
    expect(1, step(ask, command="lint", paths="wrong"), f"::error file={PLACE[0]},line={PLACE[1]},")
    examples = clone / "docs" / "examples"
    check = {"command": "check", "arguments": f"--cluster\n{examples / 'cluster'}"}
    expect(0, step(ask, paths=str(examples / "workloads" / "fits.yaml"), **check), "3 allocated")
    expect(1, step(ask, paths=str(examples / "workloads" / "too-big.yaml"), **check), "::error file=")
    expect(2, step(ask, paths=""), "the following arguments are required: PATHS")


def component(clone: Path, repository: Path, environment: dict[str, str]) -> None:
    """Run the script of the component's job, with the variables that GitLab gives it."""
    text = (clone / "templates" / "dra-alloc.yml").read_text(encoding="utf-8")
    spec, job = text.split("\n---\n")
    inputs = {name: each.get("default") for name, each in yaml.safe_load(spec)["spec"]["inputs"].items()}

    def script(**given: str) -> tuple[int, str]:
        known = {f"inputs.{name}": value for name, value in {**inputs, **given}.items()}
        ((_, offered),) = conforming(yaml.safe_load(filled(job, r"\$\[\[ (\S+) \]\]", known)), "gitlab-ci").items()
        variables = {name: each["value"] for name, each in offered["variables"].items()}
        lines = "\n".join(["set -e", *offered["script"]])
        return run(["sh", "-c", lines], repository, environment | variables)

    expect(1, script(package=str(clone), paths="right wrong"), REFUSAL)
    (issue,) = json.loads((repository / "dra-alloc.json").read_text(encoding="utf-8"))
    assert (issue["location"]["path"], issue["location"]["lines"]["begin"]) == PLACE, issue
    assert ET.parse(repository / "dra-alloc.xml").getroot().get("failures") == "1"
    expect(1, script(package=str(clone), paths="wrong", command="lint"), REFUSAL)
    expect(0, script(package=str(clone), paths="right", arguments="--release 1.37"), "(Kubernetes 1.37)")
    assert json.loads((repository / "dra-alloc.json").read_text(encoding="utf-8")) == []


def filled(text: str, pattern: str, known: dict[str, str]) -> str:
    """Return a text with the values that it names in place of their names."""
    return re.sub(pattern, lambda found: known[found[1]], text)


def conforming(document: Any, schema: str) -> Any:
    """Return a document that a schema of a service allows."""
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    jsonschema_rs.validate(json.loads((folder / f"{schema}.json").read_text(encoding="utf-8")), document)
    return document


def run(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit code of a command, and all that it printed, on one line."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def expect(code: int, told: tuple[int, str], text: str) -> None:
    """Hold that a command ended with a code and printed a text."""
    assert told[0] == code, f"exit code {told[0]}, not {code}: {told[1]}"
    assert text in told[1], f"not said: {text!r}, but {told[1]}"
    print(f"as it should be: exit code {code}, {text!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
