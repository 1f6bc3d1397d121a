"""Content digests of replayed donors and requests: a name and a block's number in.

A replayed plan has no tokens. That a request begins as a donor does is said by its blocks
having the donor's digests; all others have digests of the request's own.
"""

from __future__ import annotations

import hashlib

from xiokv.runtime.kvcache.plan import Plan


def content(name: str, row: int) -> bytes:
    """Return the content digest of block `row` of a donor or request: 32 bytes."""
    text = f"{row}:{name}".encode()
    return hashlib.blake2b(text, digest_size=32, person=b"xiokv-replay").digest()


def are_known(plan: Plan) -> bool:
    """Tell whether the contents of a plan are such as replayed donors have.

    Digests of real tokens say nothing of what a replay stores.
    """
    names = {plan.request, *(span.donor for _, span in plan.donor_spans)}
    return all(
        digest in {content(name, row).hex() for name in names}
        for row, digest in enumerate(plan.contents)
    )
