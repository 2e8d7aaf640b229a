"""
What an API server says of a changed status of a claim.
"""

from __future__ import annotations

import pytest

import dra_alloc


def claim(count=1):
    request = {"name": "r", "exactly": {"deviceClassName": "c", "count": count}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [request]}},
    }


def changes(new, old):
    """Path and detail of each fault."""
    found = dra_alloc.validate(new, old=old, subresource="status", release="1.36")
    return [(each.where.path, each.detail) for each in found]


GOT = {"driver": "d.io", "pool": "p", "device": "d"}
ALLOCATED = {"devices": {"results": [{"request": "r", **GOT}]}}
POD = {"resource": "pods", "name": "p", "uid": "1"}
NO_UID = "error validating uid: invalid UUID length: 0"
NO_CIDR = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
NOT_A_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


@pytest.mark.parametrize(
    ("status", "before", "told"),
    [
        ({"allocation": ALLOCATED, "reservedFor": [POD], "devices": [GOT]}, {}, []),
        ({}, {"allocation": ALLOCATED}, []),
        ({"reservedFor": [POD]}, {}, [("reservedFor", "may not be specified when `allocated` is not set")]),
        ({"allocation": ALLOCATED, "reservedFor": [POD, POD]}, {}, [("reservedFor[1]", "")]),
        (
            {"allocation": {"devices": {"results": [{"request": "r", **GOT, "device": "e"}]}}},
            {"allocation": ALLOCATED},
            [("allocation", "field is immutable")],
        ),
        (
            {"allocation": {"devices": {"results": [{"request": "z", **GOT}]}}},
            {},
            [("allocation.devices.results[0].request", NOT_A_REQUEST)],
        ),
        ({"allocation": ALLOCATED, "devices": [{**GOT, "shareID": ""}]}, {}, [("devices[0].shareID", NO_UID)]),
        ({"devices": [GOT]}, {}, [("devices[0]", "must be an allocated device in the claim")]),
        ({"devices": [GOT]}, {"allocation": ALLOCATED, "devices": [GOT]}, []),
        (
            {"allocation": ALLOCATED, "devices": [{**GOT, "networkData": {"ips": ["10.0.0.1"]}, "data": []}]},
            {},
            [("devices[0].data", "must be a valid JSON object"), ("devices[0].networkData.ips[0]", NO_CIDR)],
        ),
    ],
)
def test_the_status_of_a_claim(status, before, told):
    old, new = {**claim(), "status": before}, {**claim(count=7), "status": status}
    found = changes(new, old)
    assert [(path.removeprefix("status."), detail) for path, detail in found] == told


@pytest.mark.parametrize(("there", "count"), [([POD], 0), ([], 1), ([{**POD, "name": "q"}], 1)])
def test_who_may_use_a_claim_that_is_being_deleted(there, count):
    old = {**claim(), "status": {"allocation": ALLOCATED, "reservedFor": there}}
    going = {**old["metadata"], "deletionTimestamp": "2026-01-31T12:00:00Z", "finalizers": ["d.io/f"]}
    new = {**claim(), "status": {"allocation": ALLOCATED, "reservedFor": [POD]}}
    text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
    assert not changes(new, old)
    found = changes(new, {**old, "metadata": going})
    assert found == [("status.reservedFor", text)] * count


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("10.0.0.1/24", ""),
        ("2001:db8::1/64", ""),
        ("010.0.0.1/08", "10.0.0.1/8"),
        ("2001:0DB8:0::1/64", "2001:db8::1/64"),
        ("000001::/8", "1::/8"),
        ("::1.2.3.4/64", "::102:304/64"),
        ("::ffff:1.2.3.4/120", "1.2.3.4/24"),
        ("::ffff:1.2.3.4/95", "1.2.3.4/-1"),
        ("::ffff:1.2.3.4/0", "1.2.3.4/0"),
        ("::ffff:1.2.3.4/32", "1.2.3.4/32"),
        ("::ffff:1.2.3.4/33", "1.2.3.4/-63"),
        pytest.param(f"1.2.3.4/{'0' * 5000}8", "1.2.3.4/8", id="zeros"),
        pytest.param(f"1.2.3.4/{'9' * 5000}", NO_CIDR, id="nines"),
        *((each, NO_CIDR) for each in ("fe80::1%e/64", "1.2.3.4/33", "1.2.3.4/+8", "1.2.3.4/٣", "fffff::/8", "/8")),
    ],
)
def test_addresses_in_canonical_form(address, told):
    """As API servers of 1.34 and 1.36 say it."""
    status = {"allocation": ALLOCATED, "devices": [{**GOT, "networkData": {"ips": [address]}}]}
    found = changes({**claim(), "status": status}, claim())
    text = told if told in ("", NO_CIDR) else f'must be in canonical form ("{told}")'
    assert found == ([("status.devices[0].networkData.ips[0]", text)] if told else [])
