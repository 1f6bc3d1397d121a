"""Carries a plan out: donor spans are offered, fetched in one batch, checked and reported.

A declined span leads to no I/O for its blocks. Whatever goes wrong with a span turns it, or
the part of it that is behind the first bad block, into fresh tokens; nothing that goes wrong
with one request's donors is an exception for the request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import seconds, within
from xiokv.runtime.errors import ArgumentFault, LostFault, RuntimeFault
from xiokv.runtime.kvcache.keyspace import RANKS, layout_id
from xiokv.runtime.kvcache.manifest import KvLayout
from xiokv.runtime.kvcache.materialiser import AcceptAll, Materialiser
from xiokv.runtime.kvcache.offering import Declined, Offering, Taken, shown
from xiokv.runtime.kvcache.plan import Plan, Span
from xiokv.runtime.kvcache.report import Cause, Report, SpanReport, Timing
from xiokv.runtime.kvcache.states import BlockState, States, any_are
from xiokv.runtime.kvcache.storage import Fetch, Storage
from xiokv.runtime.kvcache.wanted import one_after_the_other
from xiokv.runtime.log import log

Verify = Literal["now", "later", "never"]
OnBadBlock = Literal["tail", "span"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How an executor works.

    Attributes:
        verify: compare checksums before the report, by `Executor.settle` later, or never.
        on_bad_block: what becomes fresh by it: what is behind it in its span, or the span.
        lease_seconds: for how long blocks are leased.
        layout: of the request's own blocks, to count exact hits by the plan's contents.
        rank: tensor-parallel rank whose blocks are fetched.
    """

    verify: Verify = "now"
    on_bad_block: OnBadBlock = "tail"
    lease_seconds: float = 30.0
    layout: KvLayout | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True)
class _Batch:
    """What came of the one Retrieve, and why it was not run where it was not."""

    states: list[States]
    buffer: Any
    seconds: float = 0.0
    fault: RuntimeFault | None = None


class _Judged(NamedTuple):
    """How many blocks of tokens of a span count, and why not all."""

    landed: int
    cause: Cause
    reason: str


class Executor:
    """Carries plans out on a storage.

    Args:
        storage: where the blocks are.
        materialiser: the backend's hook.
        allocate: gives memory for so many bytes to a request, on the host or in the GPU of
            the storage's driver: such as ``module.empty``.
        settings: how it works.
    """

    def __init__(
        self,
        storage: Storage,
        materialiser: Materialiser | None = None,
        *,
        allocate: Callable[[int], Any] | None = None,
        settings: Settings = Settings(),
    ) -> None:
        _check_settings(settings)
        self._storage = storage
        self._materialiser = materialiser or AcceptAll()
        self._allocate = allocate or _on_host
        self._settings = settings

    def execute(self, plan: Plan) -> Report:
        """Fetch what the backend takes of a plan.

        Returns:
            What is there and what is to be computed. Its buffer is the request's own.
        """
        plan.check()
        settings = self._settings
        offering = Offering(
            self._storage, self._materialiser, settings.lease_seconds, settings.rank
        )
        try:
            return self._supplied(self._executed(plan, offering))
        finally:
            offering.release()

    def settle(self, report: Report) -> Report:
        """Compare the checksums of a report that has not, and return what is left of it."""
        if report.verified:
            return report
        begun = time.perf_counter()
        fetched = [(span, span.fetch) for span in report.spans if span.fetch is not None]
        seen = self._checked(
            [fetch for _, fetch in fetched],
            report.buffer,
            [span.states.reshape(-1) for span, _ in fetched],
        )
        settled = {fetched[at][0].index: found for at, found in seen.items()}
        return replace(
            report,
            spans=tuple(
                self._settled(span, *settled[span.index]) if span.index in settled else span
                for span in report.spans
            ),
            timing=replace(report.timing, verify=time.perf_counter() - begun),
            verified=True,
        )

    def _executed(self, plan: Plan, offering: Offering) -> Report:
        exact = self._exact_blocks(plan)
        begun = time.perf_counter()
        answers = offering.answers(plan)
        taken = {index: found for index, found in answers.items() if isinstance(found, Taken)}
        fetches, size = _placed(taken.values())
        offered = time.perf_counter()
        batch = self._retrieved(fetches, size)
        retrieved = time.perf_counter()
        verify = self._settings.verify == "now"
        seen = self._checked(fetches, batch.buffer, batch.states) if verify else {}
        verified = time.perf_counter()
        reports = {
            index: self._fetched(index, found, fetches[at], *seen.get(at, (state, batch.fault)))
            for at, ((index, found), state) in enumerate(
                zip(taken.items(), batch.states, strict=True)
            )
        }
        return Report(
            request=plan.request,
            tokens=plan.tokens,
            block_tokens=plan.block_tokens,
            spans=tuple(
                reports.get(index) or _not_taken(index, span, answers.get(index))
                for index, span in enumerate(plan.spans)
            ),
            buffer=batch.buffer,
            timing=Timing(
                resolve=offered - begun - offering.deciding,
                decide=offering.deciding,
                retrieve=batch.seconds,
                verify=verified - retrieved,
            ),
            verified=verify,
            buffer_may_be_written=isinstance(batch.fault, LostFault)
            or any(any_are(found, BlockState.TIMEOUT) for found in batch.states),
            exact_blocks=exact,
        )

    def _retrieved(self, fetches: list[Fetch], size: int) -> _Batch:
        """Retrieve all blocks in one batch; the time is that of the batch alone."""
        buffer: Any = _on_host(0)
        if not fetches:
            return _Batch([], buffer)
        begun = time.perf_counter()
        try:
            buffer = self._allocated(size)
            begun = time.perf_counter()
            states = self._storage.retrieve(fetches, buffer, verify=False)
            return _Batch(states, buffer, time.perf_counter() - begun)
        except MemoryError as error:
            fault = RuntimeFault(f"no memory to retrieve {size} bytes: {error}")
        except RuntimeFault as error:
            fault = error
        log.warning("no block was retrieved: %s", fault)
        states = [np.full(len(f.blocks), BlockState.FAILED, np.uint8) for f in fetches]
        return _Batch(states, buffer, time.perf_counter() - begun, fault)

    def _allocated(self, size: int) -> Any:
        try:
            return self._allocate(size)
        except Exception as error:
            raise RuntimeFault(f"no buffer of {size} bytes was given: {shown(error)}") from error

    def _checked(
        self, fetches: list[Fetch], buffer: Any, states: list[States]
    ) -> dict[int, tuple[States, RuntimeFault | None]]:
        """Return what is known of fetches of which bytes landed, after a look at these.

        Returns:
            By their numbers: the states, and why the bytes could not be looked at.
        """
        landed = [at for at, found in enumerate(states) if any_are(found, BlockState.LANDED)]
        if not landed:
            return {}
        found, failure = [states[at] for at in landed], None
        try:
            found = self._storage.verify([fetches[at] for at in landed], buffer, found)
        except ArgumentFault:  # memory that cannot be looked at: the caller's to mend
            raise
        except RuntimeFault as fault:
            log.warning("no block was verified: %s", fault)
            found = [np.where(s == BlockState.LANDED, BlockState.FAILED, s) for s in found]
            failure = fault
        return {at: (one, failure) for at, one in zip(landed, found, strict=True)}

    def _settled(self, span: SpanReport, states: States, fault: RuntimeFault | None) -> SpanReport:
        """Return the report of a span whose bytes were looked at later."""
        declined = span.reason if span.cause is Cause.DECLINED else ""
        states = states.reshape(span.states.shape)
        judged = self._judged(states, span.accepted.start, declined, fault)
        return replace(
            span, states=states, landed=judged.landed, cause=judged.cause, reason=judged.reason
        )

    def _fetched(
        self, index: int, taken: Taken, fetch: Fetch, states: States, fault: RuntimeFault | None
    ) -> SpanReport:
        """Return the report of a span that was asked for."""
        table = fetch.lease.donor.table
        states = states.reshape(-1, table.shards)
        judged = self._judged(states, taken.rows.start, taken.reason, fault)
        return SpanReport(
            index=index,
            span=taken.span,
            cause=judged.cause,
            reason=judged.reason,
            offered=taken.offer.blocks,
            offered_bytes=taken.offer.cost.bytes,
            accepted=taken.rows,
            states=states,
            offsets=fetch.offsets.reshape(-1, table.shards),
            landed=judged.landed,
            bytes=int(table.sizes[fetch.blocks].sum()),
            fetch=fetch,
        )

    def _judged(
        self, states: States, first: int, declined: str, fault: RuntimeFault | None
    ) -> _Judged:
        """Return how much of a span counts, and why not all.

        Args:
            states: of its blocks: (n, shards).
            first: number of the first block of tokens in the span.
            declined: why the backend took not all of it, or empty.
            fault: why the batch was not run.
        """
        if int(states.max(initial=0)) <= BlockState.LANDED:
            return _Judged(len(states), Cause.DECLINED if declined else Cause.NONE, declined)
        worst = states.max(axis=1, initial=0)
        bad = int(np.argmax(worst > BlockState.LANDED))
        landed = bad if self._settings.on_bad_block == "tail" else 0
        if fault is not None:
            return _Judged(landed, Cause.STORAGE, str(fault).splitlines()[0])
        state = BlockState(worst[bad])
        shard = int(np.argmax(states[bad]))
        cause = Cause.LEASE if state is BlockState.EXPIRED else Cause.BLOCK
        return _Judged(landed, cause, f"block {first + bad}, shard {shard}: {state.name}")

    def _exact_blocks(self, plan: Plan) -> int | None:
        """Count the leading blocks whose exact content is stored, all shards of them."""
        layout = self._settings.layout
        if layout is None or not plan.contents:
            return None
        contents = [bytes.fromhex(content) for content in plan.contents]
        there = np.ones(len(contents), bool)
        try:
            for shard in layout.shards:
                digests = self._storage.keyspace.digests(layout_id(layout, shard), contents)
                there &= self._storage.present(digests)
        except RuntimeFault as fault:
            log.warning("exact blocks were not counted: %s", fault)
            return None
        return int(np.argmin(there)) if not there.all() else len(there)

    def _supplied(self, report: Report) -> Report:
        try:
            supplied = dict(self._materialiser.supplied(report))
        except Exception as error:
            log.warning("the backend's figures of %r were not taken: %r", report.request, error)
            return report
        return replace(report, supplied=supplied)


def _check_settings(settings: Settings) -> None:
    for name, allowed in (
        ("verify", ("now", "later", "never")),
        ("on_bad_block", ("tail", "span")),
    ):
        if getattr(settings, name) not in allowed:
            raise ArgumentFault(
                f"{name} is {getattr(settings, name)!r}; allowed are {', '.join(allowed)}"
            )
    seconds("lease_seconds", settings.lease_seconds)
    within("rank", settings.rank, 0, RANKS - 1)
    if settings.layout is not None and not isinstance(settings.layout, KvLayout):
        raise ArgumentFault(f"layout is {settings.layout!r}; allowed are a KvLayout and None")


def _on_host(size: int) -> npt.NDArray[np.uint8]:
    return np.zeros(size, np.uint8)


def _placed(taken: Iterable[Taken]) -> tuple[list[Fetch], int]:
    """Lay blocks one after the other; return what to fetch and the bytes of the buffer."""
    taken = list(taken)
    if not taken:
        return [], 0
    sizes = np.concatenate([found.lease.donor.table.sizes[found.blocks] for found in taken])
    offsets = one_after_the_other(sizes)
    ends = list(accumulate(len(found.blocks) for found in taken))
    fetches = [
        Fetch(found.lease, found.blocks, offsets[begin:end])
        for found, (begin, end) in zip(taken, pairwise([0, *ends]), strict=True)
    ]
    return fetches, int(offsets[-1] + sizes[-1] + -sizes[-1] % 4)


def _not_taken(index: int, span: Span, answer: Taken | Declined | None) -> SpanReport:
    if isinstance(answer, Declined):
        offer = answer.offer
        return SpanReport(
            index,
            span,
            answer.cause,
            answer.reason,
            offered=offer.blocks if offer else 0,
            offered_bytes=offer.cost.bytes if offer else 0,
        )
    return SpanReport(index, span, Cause.PLANNED)
