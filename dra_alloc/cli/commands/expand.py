"""
The command `expand`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import options as shared

_DESCRIPTION: Final = """\
Print the pods and claims that the objects in MANIFESTS make, each once, as
their controllers would make them: Deployments, Jobs, JobSets, Ray clusters and
all other kinds that `check` knows. What is in DUMP is there already: pods that
a controller counts are not made again, and a DaemonSet makes one for each node.

What is drawn at random has a number in its place, which no cluster draws:
web-0000000000-00001. A kind that is not known is taken for one that makes one
pod of each pod template in it; what makes pods and cannot be expanded is told,
and the exit code is 2. MANIFESTS and DUMP are files, folders or -."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = _DESCRIPTION
    shared.inputs(command)
    shared.pod_templates(command)
    shared.validate(command)
    command.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: yaml")
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """
    Print pods and claims, tell what could not be expanded, and return the exit code.

    Raises: InputError.
    """
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import tell, warn, write
    from dra_alloc.cli.reading import Inputs, read_inputs
    from dra_alloc.cluster.settings import DEFAULT_SETTINGS
    from dra_alloc.report.layout import inert, json_text, printable
    from dra_alloc.scenario.expand import expand, objects_of

    inputs = Inputs(options.manifests, options.cluster, options.namespace, None, options.validate)
    manifests, dump = read_inputs(inputs, DEFAULT_SETTINGS)
    found = expand(manifests, dump, namespace=options.namespace, pod_templates=options.pod_template)
    warn(*manifests.warnings, *dump.warnings)
    objects = list(objects_of(found))
    if options.format == "json":
        items = [item for _, item in objects]
        write(json_text({"apiVersion": "v1", "kind": "List", "items": items}))
    else:
        from dra_alloc.report.yaml_text import documents_text

        write(documents_text(objects))
    for note in found.notes:
        tell(f"note: {inert(printable(note))}")
    for problem in found.problems:
        tell(str(problem))
    return ExitCode.BAD_INPUT if found.problems else ExitCode.OK
