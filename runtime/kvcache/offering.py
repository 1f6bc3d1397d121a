"""Offers donor spans to the backend: a span in, what may be fetched of it or why not out."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass, replace

import numpy as np

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.documents import DocumentFault, Range
from xiokv.runtime.kvcache.materialiser import Accept, Decision, Decline, Materialiser, Offer
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.report import Cause
from xiokv.runtime.kvcache.states import Ints
from xiokv.runtime.kvcache.storage import (
    Donor,
    DonorMissingFault,
    GenerationFault,
    Lease,
    Storage,
)
from xiokv.runtime.log import log

_LONGEST = 300


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """What may be fetched of a span.

    Attributes:
        span: as planned.
        lease: that allows it.
        rows: blocks of tokens, counted from the span's first.
        blocks: the same as numbers in the manifest, all shards of them.
        offer: what the backend was asked about.
        reason: why it is not all of the span.
    """

    span: DonorSpan
    lease: Lease
    rows: Range
    blocks: Ints
    offer: Offer
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Declined:
    """Why nothing of a span is fetched.

    Attributes:
        cause: in a word.
        reason: the same in words.
        offer: what the backend was asked about, or None.
    """

    cause: Cause
    reason: str
    offer: Offer | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Accepted:
    """What the backend takes of a span, before it is leased."""

    span: DonorSpan
    donor: Donor
    rows: Range
    blocks: Ints
    offer: Offer
    reason: str


class Offering:
    """The donors of one plan: all are resolved at once, and those that are taken leased at once.

    Args:
        storage: where they are.
        materialiser: the backend's hook.
        lease_seconds: for how long.
        rank: tensor-parallel rank.

    Attributes:
        deciding: seconds that the hook took.
    """

    def __init__(
        self, storage: Storage, materialiser: Materialiser, lease_seconds: float, rank: int = 0
    ) -> None:
        self._storage = storage
        self._materialiser = materialiser
        self._lease_seconds = lease_seconds
        self._rank = rank
        self._leases: dict[str, Lease | Declined] = {}
        self.deciding = 0.0

    def answers(self, plan: Plan) -> dict[int, Taken | Declined]:
        """Return what may be fetched of each donor span, by its number."""
        spans = dict(plan.donor_spans)
        donors = self._resolved(list(dict.fromkeys(span.donor for span in spans.values())))
        considered = {
            index: self._considered(plan, span, donors[span.donor]) for index, span in spans.items()
        }
        accepted = [one.donor for one in considered.values() if isinstance(one, _Accepted)]
        self._lease({donor.manifest.donor: donor for donor in accepted})
        return {index: self._taken(one) for index, one in considered.items()}

    def release(self) -> None:
        """End all leases."""
        for lease in self._leases.values():
            if isinstance(lease, Lease):
                self._storage.release(lease)

    def _considered(
        self, plan: Plan, span: DonorSpan, donor: Donor | Declined
    ) -> _Accepted | Declined:
        if isinstance(donor, Declined):
            return donor
        declined = _unfit(plan, span, donor) or self._of_another(donor)
        if declined is not None:
            return declined
        blocks = _blocks(span, donor)
        cost = self._storage.estimate_fetch_cost(donor, blocks.reshape(-1))
        offer = Offer(span, donor.manifest, len(blocks), cost)
        decision = self._decided(offer)
        if isinstance(decision, Decline):
            return Declined(Cause.DECLINED, decision.reason, offer)
        rows = decision.blocks or Range(0, len(blocks))
        part = "" if len(rows) == len(blocks) else f"blocks {rows} of {len(blocks)} were taken"
        taken = blocks[rows.start : rows.end].reshape(-1)
        return _Accepted(span, donor, rows, taken, offer, part)

    def _taken(self, found: _Accepted | Declined) -> Taken | Declined:
        if isinstance(found, Declined):
            return found
        lease = self._leases[found.donor.manifest.donor]
        if isinstance(lease, Declined):
            return replace(lease, offer=found.offer)
        return Taken(found.span, lease, found.rows, found.blocks, found.offer, found.reason)

    def _resolved(self, names: list[str]) -> dict[str, Donor | Declined]:
        if not names:
            return {}
        try:
            found = self._storage.resolve_all(names, self._rank)
        except RuntimeFault as fault:
            found = [fault] * len(names)
        return {
            name: one if isinstance(one, Donor) else _unresolved(one)
            for name, one in zip(names, found, strict=True)
        }

    def _lease(self, donors: dict[str, Donor]) -> None:
        if not donors:
            return
        try:
            found = self._storage.lease_all(list(donors.values()), self._lease_seconds)
        except ArgumentFault:  # of the settings
            raise
        except RuntimeFault as fault:
            found = [fault] * len(donors)
        for name, one in zip(donors, found, strict=True):
            cause = Cause.GENERATION if isinstance(one, GenerationFault) else Cause.LEASE
            self._leases[name] = (
                one if isinstance(one, Lease) else Declined(cause, _first_line(one))
            )

    def _of_another(self, donor: Donor) -> Declined | None:
        """Refuse a donor of another tenant or policy, however it got here."""
        manifest, ours = donor.manifest, self._storage.keyspace
        if (manifest.tenant, manifest.policy) == (ours.tenant, ours.policy):
            return None
        return Declined(
            Cause.TENANT,
            f"donor {manifest.donor!r} is of tenant {manifest.tenant!r}, policy"
            f" {manifest.policy!r}; this storage is of {ours.tenant!r}, {ours.policy!r}",
        )

    def _decided(self, offer: Offer) -> Decision:
        begun = time.perf_counter()
        try:
            decision = self._materialiser.consider(offer)
        except Exception as error:
            log.warning("the hook failed for donor %r: %s", offer.span.donor, shown(error))
            return Decline(f"the hook failed: {shown(error)}")
        finally:
            self.deciding += time.perf_counter() - begun
        return _checked(decision, offer.blocks)


def _checked(decision: object, blocks: int) -> Decision:
    """Return a decision that can be followed."""
    if isinstance(decision, Decline):
        reason: object = decision.reason
        return Decline(
            " ".join(reason.split())[:_LONGEST] if isinstance(reason, str) else shown(reason)
        )
    if not isinstance(decision, Accept):
        return Decline(f"the hook returned {shown(decision)}, neither Accept nor Decline")
    rows: object = decision.blocks
    if rows is None:
        return decision
    if not isinstance(rows, Range):
        return Decline(f"the hook took blocks {shown(rows)}, which is no Range")
    try:
        start, end = operator.index(rows.start), operator.index(rows.end)
    except TypeError:
        return Decline(f"the hook took blocks {shown(rows)}, which are no whole numbers")
    if 0 <= start < end <= blocks:
        return Accept(Range(start, end))
    return Decline(f"the hook took blocks {rows} of {blocks}")


def shown(value: object) -> str:
    """Return what a reason can hold of an object that is not ours."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _unfit(plan: Plan, span: DonorSpan, donor: Donor) -> Declined | None:
    """Say what of a span is not as the manifest has it."""
    manifest = donor.manifest
    if span.generation is not None and span.generation != manifest.generation:
        return Declined(
            Cause.GENERATION,
            f"the plan is for generation {span.generation} of donor {span.donor!r}; the store has"
            f" {manifest.generation}",
        )
    if manifest.layout.block_tokens != plan.block_tokens:
        return Declined(
            Cause.MANIFEST,
            f"blocks of the plan have {plan.block_tokens} tokens; those of donor {span.donor!r}"
            f" have {manifest.layout.block_tokens}",
        )
    if not manifest.source.start <= span.source.start <= span.source.end <= manifest.source.end:
        return Declined(
            Cause.MANIFEST,
            f"source {span.source} is not within {manifest.source}, which donor {span.donor!r} has",
        )
    return _other_keys(span, donor)


def _other_keys(span: DonorSpan, donor: Donor) -> Declined | None:
    if not span.keys:
        return None
    keys = [donor.manifest.blocks[index].key for index in _blocks(span, donor).reshape(-1)]
    if len(keys) != len(span.keys):
        return Declined(
            Cause.MANIFEST,
            f"the plan names {len(span.keys)} keys for {span.source}; the manifest has {len(keys)}",
        )
    for index, (planned, there) in enumerate(zip(span.keys, keys, strict=True)):
        if planned != there:
            return Declined(
                Cause.MANIFEST, f"key {index} of the plan is {planned}; the manifest has {there}"
            )
    return None


def _blocks(span: DonorSpan, donor: Donor) -> Ints:
    """Return the numbers of a span's blocks in the manifest: (blocks of tokens, shards)."""
    manifest, shards = donor.manifest, donor.table.shards
    tokens = manifest.layout.block_tokens
    first = (span.source.start - manifest.source.start) // tokens
    rows = len(span.source) // tokens
    return np.arange(first * shards, (first + rows) * shards).reshape(rows, shards)


def _unresolved(fault: RuntimeFault) -> Declined:
    if isinstance(fault, (DonorMissingFault, DocumentFault, ArgumentFault)):
        return Declined(Cause.DONOR, _first_line(fault))
    return _not_asked(fault)


def _unleased(fault: RuntimeFault) -> Declined:
    if isinstance(fault, GenerationFault):
        return Declined(Cause.GENERATION, _first_line(fault))
    if isinstance(fault, (DonorMissingFault, DocumentFault)):
        return Declined(Cause.LEASE, _first_line(fault))
    return _not_asked(fault)


def _not_asked(fault: RuntimeFault) -> Declined:
    log.warning("a donor could not be asked for: %s", fault)
    return Declined(Cause.STORAGE, _first_line(fault))


def _first_line(fault: RuntimeFault) -> str:
    return str(fault).splitlines()[0]
