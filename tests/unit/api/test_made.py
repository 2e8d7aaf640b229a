"""Models of values that are known to fit are those that reading makes."""

from __future__ import annotations

import copy
import pickle

import pytest
from pydantic import ValidationError

from dra_alloc import api
from dra_alloc.api import DeviceRequestAllocationResult, KubeModel, NodeSelectorRequirement, ResourceClaim
from dra_alloc.api._base import Mould

MODELS = [each for each in map(api.__dict__.get, api.__all__) if isinstance(each, type) and issubclass(each, KubeModel)]


@pytest.mark.parametrize("model", MODELS)
def test_absent_members_are_as_read(model: type[KubeModel]) -> None:
    made, read = model.made(), model.model_construct()
    assert made == read
    assert list(made.__dict__) == list(read.__dict__)
    assert all(hash(each) is not None for each in made.__dict__.values())


def test_given_members_are_as_read() -> None:
    wire = {"request": "r", "driver": "d", "pool": "p", "device": "x", "adminAccess": True}
    made = DeviceRequestAllocationResult.made(request="r", driver="d", pool="p", device="x", admin_access=True)
    assert made == DeviceRequestAllocationResult.from_wire(wire)
    assert made.to_wire() == wire
    assert hash(made) == hash(DeviceRequestAllocationResult.from_wire(wire))
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    with pytest.raises(ValidationError):
        made.driver = "e"  # type: ignore[misc]


def test_replaced_members_are_as_copied() -> None:
    one = NodeSelectorRequirement.from_wire({"key": "a", "operator": "In", "values": ["b"]})
    other = one.replaced(values=("c",))
    assert other == one.model_copy(update={"values": ("c",)})
    assert other.model_fields_set == one.model_fields_set
    assert one.values == ("b",)
    claim = ResourceClaim.from_wire({"metadata": {"name": "c"}})
    assert claim.replaced(status=claim.status).model_fields_set == {"metadata", "status"}


def test_models_of_a_mould_are_as_made_and_copies_go_their_own_way() -> None:
    mould = Mould.of(DeviceRequestAllocationResult, "device", request="r")
    one, other = mould.made(device="x"), mould.made(device="y")
    assert one == DeviceRequestAllocationResult.made(request="r", device="x")
    assert one.model_fields_set == {"request", "device"}
    more = one.model_copy(update={"pool": "p"})
    assert more.model_fields_set == one.replaced(pool="p").model_fields_set == {"request", "device", "pool"}
    assert other.model_fields_set == {"request", "device"}
    assert pickle.loads(pickle.dumps(other)) == copy.deepcopy(other) == other


def test_copies_of_a_model_have_other_members() -> None:
    claim = ResourceClaim.from_wire({"metadata": {"name": "c"}})
    status = claim.status.replaced(reserved_for=())
    assert Mould.like(claim, "status").made(status=status) == claim.replaced(status=status)
    assert Mould.like(claim, "status").made(status=status).model_fields_set == {"metadata", "status"}
