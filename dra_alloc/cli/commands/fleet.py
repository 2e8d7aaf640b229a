"""
The command `fleet`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any, Final

from dra_alloc.cli import options as shared

_DESCRIPTION: Final = """\
Print the nodes, slices and classes of SHAPES, a YAML file that says how many
nodes there are of which shape (its JSON schema: --schema):

  nodes:
  - {shape: h100-8, count: 4, name: train, labels: {zone: a}}

Shapes are those of the catalogue of real machines (--list), or the file's own.
With --like NODE the shape of a node in DUMP is printed, as such a file has it.
What is made is free, and for every command that takes a cluster: --cluster."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = _DESCRIPTION
    command.add_argument("shapes", nargs="?", metavar="SHAPES", help="nodes by their shapes")
    command.add_argument("--like", metavar="NODE", help="print the shape of a node of the cluster")
    shared.cluster(command, "where that node is")
    command.add_argument("--list", action="store_true", help="print the shapes of the catalogue, and nothing else")
    command.add_argument("--schema", action="store_true", help="print the JSON schema of SHAPES, and nothing else")
    shared.validate(command)
    command.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: yaml")
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print what is asked for and return the exit code. Raises: InputError."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import write
    from dra_alloc.errors import InputError
    from dra_alloc.report.layout import json_text
    from dra_alloc.scenario.fleet.catalogue import catalogue
    from dra_alloc.scenario.fleet.shape import schema

    asked = [name for name in ("shapes", "like", "list", "schema") if getattr(options, name)]
    if len(asked) != 1:
        raise InputError("one thing is printed at a time", hint="give SHAPES, --like NODE, --list or --schema")
    if options.like and not options.cluster:
        raise InputError("--like names a node of a cluster", hint="give its dump with --cluster")
    if options.schema:
        write(json_text(schema()))
    elif options.list:
        shapes = catalogue().shapes
        width = max(map(len, shapes))
        write("".join(f"{name:<{width}}  {each.summary}\n" for name, each in shapes.items()))
    elif options.like:
        write(_text(options, [(f"node {options.like} as a shape", _like(options))]))
    else:
        write(_fleet(options))
    return ExitCode.OK


def _like(options: Namespace) -> Mapping[str, Any]:
    from dra_alloc.cli.output import warn
    from dra_alloc.manifest import load
    from dra_alloc.scenario.fleet.taking import shape_like

    dump = load(options.cluster, validate=options.validate)
    warn(*dump.warnings)
    return {"nodes": [{"shape": options.like}], "shapes": {options.like: shape_like(dump, options.like)}}


def _fleet(options: Namespace) -> str:
    from dra_alloc.report.layout import json_text
    from dra_alloc.scenario.fleet.fleet import fleet_objects, read_fleet

    objects = fleet_objects(read_fleet(options.shapes), options.shapes)
    if options.format == "json":
        return json_text({"apiVersion": "v1", "kind": "List", "items": objects})
    return _text(options, [(f"{each['kind']} {each['metadata']['name']}", each) for each in objects])


def _text(options: Namespace, objects: list[tuple[str, Mapping[str, Any]]]) -> str:
    from dra_alloc.report.layout import json_text
    from dra_alloc.report.yaml_text import documents_text

    return json_text(objects[0][1]) if options.format == "json" else documents_text(objects)
