"""How many keys a queue claims at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xiokv.runtime.submit import chunk_keys


@pytest.mark.parametrize(
    ("count", "queues", "keys"),
    [
        *((1, 1, 1), (1, 14, 1), (14, 14, 1), (15, 14, 2), (512, 7, 74)),
        *((256, 1, 256), (257, 1, 129), (2048, 7, 147), (200_000, 14, 256)),
    ],
)
def test_the_keys_of_a_chunk(count: int, queues: int, keys: int) -> None:
    assert chunk_keys(count, queues) == keys


@given(count=st.integers(1, 10**7), queues=st.integers(1, 64))
def test_no_queue_is_left_with_a_chunk_more_than_the_others(count: int, queues: int) -> None:
    keys = chunk_keys(count, queues)
    rounds = -(-count // (keys * queues))
    assert 1 <= keys <= 256
    # Of the last round no more is missing than what dividing leaves over.
    assert rounds * keys * queues - count < rounds * queues
