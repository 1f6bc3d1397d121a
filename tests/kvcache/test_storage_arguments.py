"""What a storage is given and cannot use: buffers, blocks, offsets, names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.storage import DonorMissingFault, Fetch, NewDonor

from .conftest import Place
from .donors import contents, layout, publish


@pytest.mark.parametrize(
    ("out", "offset"),
    [
        (np.zeros(4095, np.uint8), 0),
        (np.zeros(8192, np.uint8), 4100),
        (np.zeros(8192, np.uint8), -4096),
        (bytes(4096), 0),
    ],
    ids=["too small", "past the end", "before the begin", "read-only"],
)
def test_a_buffer_that_does_not_fit_is_refused(place: Place, out: Any, offset: int) -> None:
    donor = place.storage.resolve(publish(place.storage).name)
    lease = place.storage.lease(donor, 10)
    with pytest.raises(ArgumentFault, match=r"leaves|read-only"):
        place.storage.retrieve([Fetch(lease, np.array([0]), np.array([offset]))], out)
    assert not np.frombuffer(out, np.uint8).any()


@pytest.mark.parametrize(
    "payloads", [bytes(8191), bytes(8196), np.zeros(8192, np.float32)], ids=len
)
def test_payloads_are_as_long_as_the_blocks(place: Place, payloads: Any) -> None:
    """An array of another dtype is the usual case of longer ones."""
    with pytest.raises(ArgumentFault, match=r"payloads have .* the blocks have 8192"):
        place.storage.publish(NewDonor("donor", layout(), contents(2)), payloads)
    with pytest.raises(DonorMissingFault):
        place.storage.resolve("donor")


@pytest.mark.parametrize(
    ("blocks", "offsets", "said"),
    [
        ([0], [1], "multiples of 4"),
        ([0, 1], [0, 4092], "slots overlap"),
        ([1, 0], [4096, 4096], "slots overlap"),
        ([8], [0], "the donor has blocks 0 to 7"),
        ([-1], [0], "the donor has blocks 0 to 7"),
        ([0, 1], [0], "offsets"),
    ],
)
def test_fetches_that_cannot_be_are_refused(
    place: Place, blocks: list[int], offsets: list[int], said: str
) -> None:
    donor = place.storage.resolve(publish(place.storage).name)
    lease = place.storage.lease(donor, 10)
    fetch = Fetch(lease, np.array(blocks), np.array(offsets))
    with pytest.raises(ArgumentFault, match=said):
        place.storage.retrieve([fetch], np.zeros(16384, np.uint8))
    before = Fetch(lease, np.array([2, 3]), np.array([8192, 12288]))
    with pytest.raises(ArgumentFault, match=rf"fetches(\[1\].*|: ){said}"):
        place.storage.retrieve([before, fetch], np.zeros(16384, np.uint8))


def test_slots_of_two_donors_that_overlap_are_refused(place: Place) -> None:
    leases = [
        place.storage.lease(place.storage.resolve(publish(place.storage, name).name), 10)
        for name in ("one", "two")
    ]
    fetches = [
        Fetch(leases[0], np.array([0, 1]), np.array([0, 8192])),
        Fetch(leases[1], np.array([0]), np.array([4096])),
    ]
    out = np.zeros(16384, np.uint8)
    assert len(place.storage.retrieve(fetches, out)) == 2
    fetches[1] = Fetch(leases[1], np.array([0]), np.array([4100]))
    with pytest.raises(ArgumentFault, match="slots overlap"):
        place.storage.retrieve(fetches, out)


@pytest.mark.parametrize("donor", [("donor", -1), ("donor", 1 << 32), (5, 0), ("", 0)])
def test_what_is_no_donor_is_refused(place: Place, donor: Any) -> None:
    with pytest.raises((ArgumentFault, DonorMissingFault)):
        place.storage.resolve(*donor)


def test_a_donor_has_blocks(place: Place) -> None:
    with pytest.raises(DocumentFault, match="contents: none"):
        place.storage.publish(NewDonor("donor", layout(), []), b"")


def test_contents_are_bytes(place: Place) -> None:
    donor = NewDonor("donor", layout(), ["a" * 32])  # type: ignore[list-item]
    with pytest.raises(ArgumentFault, match="a content digest is 'aaa"):
        place.storage.publish(donor, bytes(4096))
