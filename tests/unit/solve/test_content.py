"""What tells specifications apart looks at every field."""

from __future__ import annotations

from typing import Any

import pytest

from dra_alloc.api import (
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    KubeModel,
    ResourceClaim,
    ResourceClaimSpec,
)
from dra_alloc.solve.content import content

SELECTOR = {"cel": {"expression": "device.driver == 'a'"}}
EXACTLY: dict[str, Any] = {"deviceClassName": "gpu", "count": 1, "allocationMode": "ExactCount"}


def _claim(exactly: dict[str, Any], **devices: Any) -> ResourceClaim:
    request = {"name": "r", "exactly": EXACTLY | exactly}
    return ResourceClaim.from_wire({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request], **devices}}})


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ResourceClaimSpec, {"devices"}),
        (DeviceClaim, {"requests", "constraints", "config"}),
        (DeviceRequest, {"name", "exactly", "first_available"}),
        (DeviceConstraint, {"requests", "match_attribute", "distinct_attribute"}),
        (
            ExactDeviceRequest,
            {"device_class_name", "selectors", "allocation_mode", "count", "admin_access", "tolerations", "capacity"}
            | {"derived_attributes"},
        ),
    ],
)
def test_there_are_no_fields_it_does_not_know(model: type[KubeModel], fields: set[str]) -> None:
    assert set(model.model_fields) == fields


CLAIMS = [
    _claim({}),
    _claim({"count": 2}),
    _claim({"deviceClassName": "b"}),
    _claim({"allocationMode": "All", "count": None}),
    _claim({"adminAccess": True}),
    _claim({"selectors": [SELECTOR]}),
    _claim({"selectors": [SELECTOR, SELECTOR]}),
    _claim({"selectors": [{}]}),
    _claim({"tolerations": [{"operator": "Exists"}]}),
    _claim({"capacity": {"requests": {"memory": "1"}}}),
    _claim({"capacity": {"requests": {"memory": "1500m"}}}),
    _claim({}, constraints=[{"matchAttribute": "a/b"}]),
    _claim({}, constraints=[{"distinctAttribute": "a/b"}]),
    _claim({}, constraints=[{"matchAttribute": "a/b", "requests": ["r"]}]),
    _claim({}, config=[{"opaque": {"driver": "d", "parameters": {"a": 1}}}]),
    _claim({}, config=[{"opaque": {"driver": "d", "parameters": {"a": True}}}]),
]


def test_other_specifications_have_other_content() -> None:
    assert len({content(claim) for claim in CLAIMS}) == len(CLAIMS)


def test_equal_specifications_have_equal_content() -> None:
    for claim in CLAIMS:
        assert content(ResourceClaim.from_wire(claim.to_wire())) == content(claim)
