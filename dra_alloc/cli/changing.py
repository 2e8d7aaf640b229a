"""
A cluster, and what changes it: what several commands read alike.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from dra_alloc.cli.nothing import check_stdin_once, nothing_given
from dra_alloc.cli.output import keep_inputs, warn
from dra_alloc.cli.reading import given_settings, settings_of
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.objects import states
from dra_alloc.errors import InputError, ManifestError, Problem, by_place
from dra_alloc.manifest import Documents, Manner, load_readable
from dra_alloc.manifest.plain_file import with_lines
from dra_alloc.pods.naming import in_namespace
from dra_alloc.pods.workloads.shapes import taught_by
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.what_if.reading import Scenario, read_scenario
from dra_alloc.scenario.what_if.what_if import after_steps


def checking(options: Namespace) -> CheckOptions:
    """Return how the states are checked."""
    taught = tuple(map(taught_by, options.pod_template))
    return CheckOptions(given_settings(options), namespace=options.namespace, taught=taught)


def states_of(options: Namespace) -> tuple[ClusterState, ClusterState]:
    """
    Return the cluster before and after manifests and the steps of a scenario.

    Raises: ManifestError with all that is wrong at once; InputError for options that do not go together.
    """
    if options.base and not options.manifests:
        raise InputError("--base says what --manifests replace, which are not given")
    if not options.cluster:
        raise InputError("there is no cluster to change", hint="give its dump with --cluster")
    check_stdin_once([*options.manifests, *options.cluster, *options.base])
    settings = settings_of(options)
    scenario, wrong = read_scenario(options.scenario) if options.scenario else (Scenario(), ())
    problems: list[Problem] = [*wrong]
    reading = _Reading(options, problems)
    dump = reading.documents(options.cluster, Manner(options.validate))
    base, manifests = (
        reading.documents(each, Manner.applied(options.validate)) for each in (options.base, options.manifests)
    )
    if options.manifests and not problems and not (manifests.places or manifests.unknown):
        raise nothing_given()
    before, after = states(dump, base, manifests, settings)
    after, wrong = after_steps(after, scenario, reading.beside, checking(options))
    problems += wrong
    if problems:
        raise ManifestError(by_place(with_lines(problems, scenario.file)))
    return before, after


class _Reading:
    """Inputs as they come up; what cannot be read is a problem, and missing."""

    def __init__(self, options: Namespace, problems: list[Problem]) -> None:
        self._options = options
        self._problems = problems

    def documents(self, paths: Sequence[str], manner: Manner) -> Documents:
        """Return the objects of files, in their namespaces."""
        found, wrong = load_readable(paths, manner=manner) if paths else (Documents(), ())
        self._problems += wrong
        warn(*found.warnings)
        return in_namespace(found, self._options.namespace)

    def beside(self, path: str) -> Documents:
        """
        Return the objects of a file that a scenario names.

        Raises: InputError for one that a report would replace.
        """
        file = str(Path(self._options.scenario).parent / path)
        keep_inputs(self._options, [file])
        return self.documents([file], Manner.applied(self._options.validate))
