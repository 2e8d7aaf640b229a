"""
Objects of KAI written in a wrong way are told with their places.
"""

from __future__ import annotations

import pytest

from dra_alloc.errors import ManifestError
from tests.unit.scenario.kai import admitted, node, pod, pod_group, queue


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (queue("q", (1, -3)), r"spec\.resources\.gpu\.limit: has to be a number, at least 0, or -1"),
        (queue("q", (1, 1), "gone"), r"spec\.parentQueue: there is no queue gone"),
        (queue("q", (1, 1), "q"), r"spec\.parentQueue: queues are below one another in a circle: q"),
        (pod_group("g", "q", minMember=1, minSubGroup=1), "minMember and minSubGroup exclude each other"),
        (
            pod_group("g", "q", minSubGroup=2, subGroups=[{"name": "a", "minMember": 1}]),
            "needs 2 groups, of 1 below it",
        ),
        (pod_group("g", "q", subGroups=[{"name": "a"}]), r"spec\.subGroups\[0\]\.minMember: is missing"),
        (pod_group("g", "q", subGroups=[{"name": "a", "minMember": 1, "parent": "b"}]), "there is no group b"),
        (pod_group("g", "q", subGroups=[{"name": "a", "parent": "a"}]), "groups are in a circle"),
        (pod_group("g", "q", subGroups=[{"name": "a", "minMember": 1}] * 2), "there is a group a before"),
        (
            pod_group("g", "q", minMember=1, preemptibility="nonpreemptible"),
            "has to be preemptible or non-preemptible",
        ),
    ],
)
def test_what_is_wrong_with_objects_is_told_with_its_place(wrong, said):
    with pytest.raises(ManifestError, match=said):
        admitted([pod("p")], *node("a", 1), queue("other", (1, 1)), wrong)
