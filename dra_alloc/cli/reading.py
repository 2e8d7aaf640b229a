"""
The documents that a command is given, with everything that is wrong with them at once.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from dra_alloc.cli.nothing import check_stdin_once, nothing_given, nothing_known
from dra_alloc.cli.output import tell, warn
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError, Problem, by_place
from dra_alloc.manifest import Documents, Manner, Validate, load_readable
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.releases import note_on
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare


def given_settings(options: Namespace) -> Settings:
    """Return which kube-scheduler the options ask for, as far as it is known."""
    return Settings(options.release, dict(options.gate), options.channel, options.semantics)


def settings_of(options: Namespace) -> Settings:
    """Return which kube-scheduler the options ask for; say if it is answered as another. Raises: InputError."""
    settings = given_settings(options)
    settings.profile()
    note = note_on(settings.release)
    if note:
        tell(f"note: {note}")
    return settings


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a command is to read; files of other kinds are read by then, with `problems` if there were any."""

    manifests: Sequence[str]
    dumps: Sequence[str]
    namespace: str
    node: str | None = None
    validate: Validate = "strict"
    problems: Sequence[Problem] = ()
    taught: tuple[Taught, ...] = ()


def read_inputs(inputs: Inputs, settings: Settings) -> tuple[Documents, Documents]:
    """
    Return the manifests and the dump.

    Raises: ManifestError with every problem of both, and if there are any, also
    with those of the manifests that could be read; InputError for settings, for
    standard input named twice, for manifests without any object, as kubectl
    apply does, and for those of which nothing is known.
    """
    check_stdin_once([*inputs.manifests, *inputs.dumps])
    asked, wrong = load_readable(inputs.manifests, manner=Manner.applied(inputs.validate))
    dump, more = load_readable(inputs.dumps, manner=Manner(inputs.validate)) if inputs.dumps else (Documents(), ())
    problems = (*inputs.problems, *wrong, *more)
    if problems:
        besides = prepare(Prepared(asked, dump, settings, inputs.namespace, inputs.node, inputs.taught)).every_problem
        raise ManifestError(by_place([*problems, *besides]))
    if not asked.places and not asked.unknown:
        warn(*asked.warnings, *dump.warnings)
        raise nothing_given()
    unknown = nothing_known(asked, [each.kind for each in inputs.taught if not each.path])
    if unknown is not None:
        warn(*asked.warnings, *dump.warnings)
        raise unknown
    return asked, dump
