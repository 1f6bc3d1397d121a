"""Walk all keys of a namespace by List, page after page.

In: a function that fetches the page that begins at a key. Out: the keys, each once.
Controllers differ: the order is theirs, and some go on from the first key after the last.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from xiokv.generated.nvme_kv import decode_list
from xiokv.runtime.arguments import integer
from xiokv.runtime.errors import ArgumentFault, RuntimeFault

#: Bytes of a page; room for two of the longest keys is the least that gets on.
PAGE_BYTES = 64 << 10


def walk(fetch: Callable[[bytes], bytes], start: bytes, limit: Any) -> Iterator[bytes]:
    """Return the keys from `start` on, at most `limit` of them where it is not None.

    Pages are fetched as the keys are taken. Every key is remembered until the end, because
    only a page without a new key tells that a controller goes round in a circle.
    """
    if limit is not None and integer("limit", limit) < 0:
        raise ArgumentFault(f"limit {limit}: None, or a number of keys from 0 on")
    return islice(_fresh_keys(fetch, start), limit and min(limit, sys.maxsize))


def _fresh_keys(fetch: Callable[[bytes], bytes], start: bytes) -> Iterator[bytes]:
    page = _keys(fetch(start))
    first = page[0] if page else b""
    seen: set[bytes] = set()
    while True:
        known = len(seen)
        for key in page:
            if key not in seen:
                seen.add(key)
                yield key
            elif key == first:
                return
        if len(seen) == known:
            return
        last = page[-1]
        page = _keys(fetch(last))
        if page and page[0] == last:
            del page[0]


def _keys(page: bytes) -> list[bytes]:
    try:
        return decode_list(page)
    except ValueError as error:
        raise RuntimeFault(f"the controller sent a List page that is none: {error}") from error
