"""
Objects of queue systems of which nobody can say what they do: versions that no system serves.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import ManifestError
from dra_alloc.manifest.kinds import QUEUEING
from tests.unit.scenario.kai import admitted, queue


@pytest.mark.parametrize(("group", "kind"), QUEUEING)
def test_versions_that_nobody_serves_are_refused(group, kind):
    written = {"apiVersion": f"{group}/v9", "kind": kind, "metadata": {"name": "x"}, "spec": {}}
    beside = [queue("q", (1, 1))] if group == "grove.io" else []
    with pytest.raises(ManifestError) as caught:
        admitted([], written, *beside)
    told = [each for each in caught.value.problems if each.where.path == "apiVersion"]
    assert [each.message for each in told] == [f'no matches for kind "{kind}" in version "{group}/v9"']
    assert told[0].hint == f"versions: {', '.join(QUEUEING[group, kind])}"
