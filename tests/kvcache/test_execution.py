"""Plans carried out: what is taken, what is fetched, and what the report says of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault, LostFault, RuntimeFault
from xiokv.runtime.kvcache.documents import DocumentFault, Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.materialiser import (
    Accept,
    AcceptAll,
    Decision,
    Decline,
    Offer,
    SameLayout,
)
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.report import Cause, Report
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import Storage
from xiokv.runtime.testing import MakeRig, Rig

from .conftest import Place, on_a_namespace
from .donors import BLOCK_TOKENS, Given, contents, layout, publish

SHAPE = layout(512, 9000)
ROWS = 8


@pytest.fixture
def given(place: Place) -> Given:
    return publish(place.storage, rows=ROWS, shape=SHAPE, generation=3)


def tokens(start: int, end: int) -> Range:
    """Return positions of blocks."""
    return Range(start * BLOCK_TOKENS, end * BLOCK_TOKENS)


def donor(target: int, source: int, count: int, name: str = "donor", **fields: Any) -> DonorSpan:
    return DonorSpan(
        target=tokens(target, target + count),
        donor=name,
        source=tokens(source, source + count),
        **fields,
    )


def plan(*spans: Any, **fields: Any) -> Plan:
    end = spans[-1].target.end
    return Plan(request="r", tokens=end, block_tokens=BLOCK_TOKENS, spans=spans, **fields)


#: Two blocks to compute, then blocks 1 to 6 of the donor, then one more to compute.
PLAN = plan(FreshSpan(target=tokens(0, 2)), donor(2, 1, 6), FreshSpan(target=tokens(8, 9)))


def blocks_of(ranges: list[Range]) -> list[int]:
    """Return positions as numbers of blocks."""
    return [
        block
        for positions in ranges
        for block in range(positions.start // BLOCK_TOKENS, positions.end // BLOCK_TOKENS)
    ]


def check_bytes(report: Report, givens: Mapping[str, Given]) -> int:
    """Compare every byte that counts with what was published; return how many blocks did."""
    view = np.asarray(report.buffer)
    seen = []
    for span, position, offsets in report.placed():
        assert isinstance(span.span, DonorSpan)
        ours = givens[span.span.donor]
        source = span.span.source.start + position - span.span.target.start
        row = (source - ours.manifest.source.start) // BLOCK_TOKENS
        for shard, offset in enumerate(offsets):
            block = ours.blocks[row * len(offsets) + shard]
            assert (view[offset : offset + len(block)] == block).all()
        seen.append(position)
    assert [position // BLOCK_TOKENS for position in seen] == blocks_of(report.materialised)
    return len(seen)


def execute(storage: Storage, plan: Plan, hook: Any = None, **settings: Any) -> Report:
    return Executor(storage, hook, settings=Settings(**settings)).execute(plan)


class Hook(AcceptAll):
    """A backend that decides as it is told."""

    def __init__(self, decide: Callable[[Offer], Decision]) -> None:
        self.consider = decide  # type: ignore[method-assign]


def test_a_span_lands_where_the_report_says(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN)
    assert blocks_of(report.materialised) == [2, 3, 4, 5, 6, 7]
    assert blocks_of(report.fresh) == [0, 1, 8]
    assert [span.cause for span in report.spans] == [Cause.PLANNED, Cause.NONE, Cause.PLANNED]
    assert report.verified
    assert check_bytes(report, {"donor": given}) == 6


def test_spans_of_many_donors_are_one_batch(rig: Rig) -> None:
    place = on_a_namespace(rig)
    givens = {
        name: publish(place.storage, name, ROWS, SHAPE, seed)
        for seed, name in enumerate(("a", "b"), start=1)
    }
    executor = Executor(place.storage)
    mixed = plan(donor(0, 4, 2, "a"), donor(2, 0, 3, "b"), donor(5, 0, 1, "a"))
    executor.execute(mixed)  # what was resolved is remembered
    rig.controller.trace_start()
    report = executor.execute(mixed)
    retrieved = [
        entry for entry in rig.controller.trace() if entry.kind == "sqe" and entry.data[0] == 2
    ]
    assert check_bytes(report, givens) == 6
    # Two heads to resolve and two to lease, then two values a block of 9000 bytes.
    assert len(retrieved) == 4 + 6 * 3


def test_a_declined_span_leads_to_no_retrieve(rig: Rig) -> None:
    place = on_a_namespace(rig)
    given = publish(place.storage, rows=ROWS, shape=SHAPE)
    rig.controller.trace_start()
    report = execute(place.storage, PLAN, Hook(lambda offer: Decline("other RoPE base")))
    keys = {bytes.fromhex(block.key) for block in given.manifest.blocks}
    asked = [entry.data for entry in rig.controller.trace() if entry.kind == "sqe"]
    assert asked, "the trace holds what was asked to resolve the donor"
    assert not keys & {sqe[8:16] + sqe[56:64] for sqe in asked}
    assert report.spans[1].cause is Cause.DECLINED
    assert report.spans[1].reason == "other RoPE base"
    assert report.materialised == []
    assert blocks_of(report.fresh) == list(range(9))
    assert len(report.buffer) == 0


def test_a_part_of_a_span_is_taken(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(2, 5))))
    assert blocks_of(report.materialised) == [4, 5, 6]
    assert check_bytes(report, {"donor": given}) == 3
    assert report.spans[1].cause is Cause.DECLINED
    assert report.spans[1].reason == "blocks [2, 5) of 6 were taken"
    assert report.spans[1].bytes == 3 * 9512


def test_the_hook_sees_span_manifest_and_cost(place: Place, given: Given) -> None:
    seen: list[Offer] = []

    def decide(offer: Offer) -> Decision:
        seen.append(offer)
        return Accept()

    execute(place.storage, PLAN, Hook(decide))
    (offer,) = seen
    assert (offer.span, offer.manifest, offer.blocks) == (PLAN.spans[1], given.manifest, 6)
    assert offer.cost.bytes == 6 * 9512


class Unshowable(Exception):
    def __repr__(self) -> str:
        raise ValueError("no words")


BAD_DECISIONS: dict[str, Callable[[Offer], Any]] = {
    "an exception": lambda offer: 1 / 0,
    "nothing": lambda offer: None,
    "blocks that are not there": lambda offer: Accept(Range(3, 7)),
    "no block": lambda offer: Accept(Range(3, 3)),
    "blocks that end first": lambda offer: Accept(Range(3, 1)),
    "a tuple": lambda offer: Accept((0, 1)),  # type: ignore[arg-type]
    "halves of blocks": lambda offer: Accept(Range(0.0, 1.5)),  # type: ignore[arg-type]
    "no numbers": lambda offer: Accept(Range(None, None)),  # type: ignore[arg-type]
    "what cannot be shown": lambda offer: Unshowable(),
    "an exception that cannot be shown": lambda offer: (_ for _ in ()).throw(Unshowable()),
}


@pytest.mark.parametrize("decide", BAD_DECISIONS.values(), ids=BAD_DECISIONS)
def test_a_hook_that_fails_declines(place: Place, given: Given, decide: Any) -> None:
    report = execute(place.storage, PLAN, Hook(decide))
    assert report.materialised == []
    assert report.spans[1].cause is Cause.DECLINED
    assert "the hook" in report.spans[1].reason


def test_numbers_of_numpy_are_taken(place: Place, given: Given) -> None:
    taken = Accept(Range(np.int64(2), np.int64(5)))  # type: ignore[arg-type]
    report = execute(place.storage, PLAN, Hook(lambda offer: taken))
    assert blocks_of(report.materialised) == [4, 5, 6]
    assert json.dumps(report.as_values())


def test_a_rank_fetches_its_own_blocks(place: Place) -> None:
    givens = [
        publish(place.storage, rows=ROWS, shape=layout(512, 9000, tp_rank=rank), seed=1 + rank)
        for rank in range(2)
    ]
    for rank, ours in enumerate(givens):
        assert check_bytes(execute(place.storage, PLAN, rank=rank), {"donor": ours}) == 6
    assert execute(place.storage, PLAN, rank=2).spans[1].cause is Cause.DONOR


def test_a_backend_may_ask_for_its_own_layout(place: Place, given: Given) -> None:
    assert execute(place.storage, PLAN, SameLayout(SHAPE)).materialised
    rope = replace_layout(rope=None)
    report = execute(place.storage, PLAN, SameLayout(rope))
    assert report.materialised == []
    assert report.spans[1].reason.startswith("layout.rope is Rope(base=500000")


def replace_layout(**fields: Any) -> Any:
    from msgspec.structs import replace as with_fields

    return with_fields(SHAPE, **fields)


UNUSABLE = {
    "no such donor": (donor(0, 0, 4, "nobody"), Cause.DONOR, "no donor 'nobody'"),
    "another generation": (donor(0, 0, 4, generation=2), Cause.GENERATION, "for generation 2"),
    "past its end": (donor(0, 5, 4), Cause.MANIFEST, "[80, 144) is not within [0, 128)"),
    "other keys": (donor(0, 0, 1, keys=("00" * 16,) * 2), Cause.MANIFEST, "key 0 of the plan"),
    "keys of another number": (donor(0, 0, 1, keys=("00" * 16,)), Cause.MANIFEST, "names 1 keys"),
}


@pytest.mark.parametrize(("span", "cause", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_span_that_cannot_be_used_is_fresh(
    place: Place, given: Given, span: DonorSpan, cause: Cause, said: str
) -> None:
    after = donor(span.target.end // BLOCK_TOKENS, 0, 1)
    report = execute(place.storage, plan(span, after))
    assert report.spans[0].cause is cause
    assert said in report.spans[0].reason
    assert report.spans[1].landed == 1, "others are not struck"


def test_keys_that_are_the_manifests_are_taken(place: Place, given: Given) -> None:
    keys = tuple(block.key for block in given.manifest.blocks[2:6])
    report = execute(place.storage, plan(donor(0, 1, 2, keys=keys)))
    assert report.spans[0].landed == 2


def test_blocks_of_another_length_are_not_offered(place: Place, given: Given) -> None:
    span = DonorSpan(target=Range(0, 32), donor="donor", source=Range(0, 32))
    other = Plan(request="r", tokens=32, block_tokens=32, spans=(span,))
    report = execute(place.storage, other)
    assert report.spans[0].cause is Cause.MANIFEST
    assert "have 32 tokens; those of donor 'donor' have 16" in report.spans[0].reason


def test_a_manifest_of_another_tenant_is_not_used(place: Place) -> None:
    """However it came under this tenant's key."""
    other = place.another(Keyspace("other"))
    publish(other)
    place.storage.resolve_all = other.resolve_all  # type: ignore[method-assign]
    report = execute(place.storage, plan(donor(0, 0, 2)))
    assert report.spans[0].cause is Cause.TENANT
    assert "is of tenant 'other'" in report.spans[0].reason


def test_a_donor_that_is_published_again_meanwhile_is_not_used(place: Place, given: Given) -> None:
    def decide(offer: Offer) -> Decision:
        publish(place.storage, rows=ROWS, shape=SHAPE, generation=4, seed=4)
        return Accept()

    report = execute(place.storage, PLAN, Hook(decide))
    assert report.spans[1].cause is Cause.GENERATION
    assert report.materialised == []


class TestBadBlocks:
    @pytest.mark.parametrize(("policy", "left"), [("tail", [2, 3, 4]), ("span", [])])
    @pytest.mark.parametrize(
        ("change", "state"),
        [
            (lambda value: None, "MISSING"),
            (lambda value: value[:-4], "WRONG_SIZE"),
            (lambda value: value[::-1], "CORRUPT"),
        ],
    )
    def test_a_bad_block_makes_its_span_or_what_is_behind_it_fresh(
        self, place: Place, given: Given, change: Any, state: str, policy: Any, left: list[int]
    ) -> None:
        # Block 4 of the donor is block 3 of the span; its first shard is one value.
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), change)
        report = execute(place.storage, PLAN, on_bad_block=policy)
        assert blocks_of(report.materialised) == left
        assert check_bytes(report, {"donor": given}) == len(left)
        assert report.spans[1].cause is Cause.BLOCK
        assert report.spans[1].reason == f"block 3, shard 0: {state}"
        assert report.spans[1].states[4:].tolist() == [[BlockState.VERIFIED] * 2] * 2

    def test_a_bad_block_that_the_backend_did_not_take_does_not_count(
        self, place: Place, given: Given
    ) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), lambda value: None)
        report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(0, 3))))
        assert blocks_of(report.materialised) == [2, 3, 4]
        assert report.spans[1].cause is Cause.DECLINED

    def test_numbers_of_blocks_are_those_of_the_span(self, place: Place, given: Given) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4 + 1].key), lambda value: None)
        report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(2, 5))))
        assert report.spans[1].reason == "block 3, shard 1: MISSING"
        assert blocks_of(report.materialised) == [4]


class TestVerification:
    def test_later_finds_what_now_finds(self, place: Place, given: Given) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), lambda value: value[::-1])
        executor = Executor(place.storage, settings=Settings(verify="later"))
        report = executor.execute(PLAN)
        assert not report.verified
        assert report.spans[1].landed == 6
        settled = executor.settle(report)
        now = execute(place.storage, PLAN)
        assert settled.verified
        assert settled.spans[1].landed == now.spans[1].landed == 3
        assert settled.spans[1].reason == now.spans[1].reason
        assert executor.settle(settled) is settled

    def test_later_keeps_why_the_backend_took_a_part(self, place: Place, given: Given) -> None:
        hook = Hook(lambda offer: Accept(Range(0, 2)))
        executor = Executor(place.storage, hook, settings=Settings(verify="later"))
        report = executor.execute(PLAN)
        for found in (report, executor.settle(report)):
            span = found.spans[1]
            assert (span.landed, span.cause) == (2, Cause.DECLINED)
            assert span.reason == "blocks [0, 2) of 6 were taken"

    def test_never_says_so(self, place: Place, given: Given) -> None:
        report = execute(place.storage, PLAN, verify="never")
        assert not report.verified
        assert (report.spans[1].states == BlockState.LANDED).all()


class TestStorageThatFails:
    @pytest.fixture
    def rig(self, xiokv_make: MakeRig) -> Rig:
        """A controller that is given up on soon."""
        return xiokv_make(controller={"value_max": 8192}, queues=2, timeout=1.0)

    def test_a_block_that_times_out_leaves_the_buffer_in_danger(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        given = publish(place.storage, rows=ROWS, shape=SHAPE)
        rig.faults.drop([bytes.fromhex(given.manifest.blocks[2 * 4].key)])
        report = execute(place.storage, PLAN)
        assert report.buffer_may_be_written
        assert BlockState.TIMEOUT in report.spans[1].states
        assert check_bytes(report, {"donor": given}) <= 3
        # The queue is dead now: nothing can be asked, and nothing is an exception.
        report = execute(place.storage, PLAN)
        assert report.materialised == []
        assert report.spans[1].cause is Cause.STORAGE
        rig.faults.recover()
        assert check_bytes(execute(place.storage, PLAN), {"donor": given}) == 6

    def test_a_controller_that_dies_in_mid_plan(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        publish(place.storage, rows=ROWS, shape=SHAPE)

        def decide(offer: Offer) -> Decision:
            return Accept()

        def lease_then_die(*arguments: Any) -> Any:
            lease = lease_of(*arguments)
            rig.faults.hang()
            return lease

        lease_of = place.storage.lease_all
        place.storage.lease_all = lease_then_die  # type: ignore[method-assign]
        report = execute(place.storage, PLAN, Hook(decide))
        assert report.materialised == []
        assert (report.spans[1].states == BlockState.TIMEOUT).all()
        assert report.buffer_may_be_written

    def test_a_batch_that_cannot_be_run_is_told_by_its_reason(
        self, place: Place, given: Given
    ) -> None:
        def fail(*arguments: Any, **options: Any) -> Any:
            raise RuntimeFault("the cable is out")

        place.storage.retrieve = fail  # type: ignore[method-assign]
        for verify in ("now", "later"):
            executor = Executor(place.storage, settings=Settings(verify=verify))  # type: ignore[arg-type]
            report = executor.settle(executor.execute(PLAN))
            assert (report.spans[1].cause, report.spans[1].reason) == (
                Cause.STORAGE,
                "the cable is out",
            )
            assert report.materialised == []

    def test_a_lease_that_ends_before_the_blocks_landed(self, place: Place, given: Given) -> None:
        retrieve = place.storage.retrieve

        def late(*arguments: Any, **options: Any) -> Any:
            found = retrieve(*arguments, **options)
            place.clock.now += 31
            return retrieve(*arguments, **options) if found else found

        place.storage.retrieve = late  # type: ignore[method-assign]
        report = execute(place.storage, PLAN)
        assert report.spans[1].cause is Cause.LEASE
        assert report.spans[1].reason == "block 0, shard 0: EXPIRED"
        assert report.materialised == []

    @pytest.mark.parametrize(
        "allocate",
        [
            lambda size: np.zeros(1 << 60, np.uint8),
            lambda size: 1 / 0,
            lambda size: None,
            lambda size: np.zeros(size - 4, np.uint8),
            bytes,
        ],
        ids=["no memory", "an exception", "nothing", "too little", "read-only"],
    )
    def test_a_buffer_that_cannot_be_used_is_no_exception(
        self, place: Place, given: Given, allocate: Any
    ) -> None:
        report = Executor(place.storage, allocate=allocate).execute(PLAN)
        assert report.materialised == []
        assert report.spans[1].cause is Cause.STORAGE
        assert not report.buffer_may_be_written

    def test_after_a_device_is_lost_the_buffer_may_still_be_written(
        self, place: Place, given: Given
    ) -> None:
        def lost(*arguments: Any, **options: Any) -> Any:
            raise LostFault("the kernel failed on its device")

        place.storage.retrieve = lost  # type: ignore[method-assign]
        assert execute(place.storage, PLAN).buffer_may_be_written

    def test_what_cannot_be_verified_does_not_count(self, place: Place, given: Given) -> None:
        """As where the GPU that holds the buffer is lost before it is copied."""

        def fail(*arguments: Any) -> Any:
            raise RuntimeFault("no copy came back")

        place.storage.verify = fail  # type: ignore[method-assign]
        report = execute(place.storage, PLAN)
        assert report.materialised == []
        assert (report.spans[1].cause, report.spans[1].reason) == (
            Cause.STORAGE,
            "no copy came back",
        )

    def test_exact_blocks_that_cannot_be_counted_are_no_exception(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        publish(place.storage, rows=ROWS, shape=SHAPE)
        rig.kv.close()
        own = tuple(content.hex() for content in contents(9, 1000))
        report = execute(place.storage, plan(*PLAN.spans, contents=own), layout=SHAPE)
        assert report.exact_blocks is None
        assert report.spans[1].cause is Cause.STORAGE


def test_leases_end_with_the_plan(place: Place, given: Given) -> None:
    execute(place.storage, PLAN)
    place.storage.remove("donor")


class TestExactBlocks:
    def test_they_are_counted_where_contents_and_layout_are_given(
        self, place: Place, given: Given
    ) -> None:
        own = [content.hex() for content in contents(9, 1000)]
        asked = plan(*PLAN.spans, contents=tuple(own))
        assert execute(place.storage, asked, layout=SHAPE).exact_blocks == ROWS
        assert execute(place.storage, asked, layout=layout(512)).exact_blocks == ROWS
        assert execute(place.storage, asked, layout=layout(512, 9000, tp_rank=1)).exact_blocks == 0

    def test_otherwise_nobody_knows(self, place: Place, given: Given) -> None:
        assert execute(place.storage, PLAN, layout=SHAPE).exact_blocks is None
        own = tuple(content.hex() for content in contents(9, 1000))
        assert execute(place.storage, plan(*PLAN.spans, contents=own)).exact_blocks is None


class TestSupplied:
    def test_what_the_backend_measured_is_kept(self, place: Place, given: Given) -> None:
        class Backend(AcceptAll):
            def supplied(self, report: Report) -> Mapping[str, Any]:
                return {"ttft_seconds": 0.25, "blocks": report.spans[1].landed}

        assert execute(place.storage, PLAN, Backend()).supplied == {
            "ttft_seconds": 0.25,
            "blocks": 6,
        }

    def test_a_backend_that_fails_at_it_loses_nothing_else(
        self, place: Place, given: Given
    ) -> None:
        class Backend(AcceptAll):
            def supplied(self, report: Report) -> Mapping[str, Any]:
                raise ValueError("no clock")

        report = execute(place.storage, PLAN, Backend())
        assert report.supplied == {}
        assert report.spans[1].landed == 6


def test_memory_is_the_callers(place: Place, given: Given) -> None:
    asked: list[int] = []

    def allocate(size: int) -> Any:
        asked.append(size)
        return np.full(size, 7, np.uint8)

    report = Executor(place.storage, allocate=allocate).execute(PLAN)
    assert asked == [6 * 9512]
    assert check_bytes(report, {"donor": given}) == 6


def test_a_plan_without_donors_fetches_nothing(place: Place) -> None:
    report = execute(place.storage, plan(FreshSpan(target=tokens(0, 4))))
    assert (report.materialised, blocks_of(report.fresh)) == ([], [0, 1, 2, 3])


def test_a_plan_that_cannot_be_is_refused(place: Place) -> None:
    with pytest.raises(DocumentFault, match="leaves a gap"):
        execute(place.storage, plan(donor(1, 0, 1)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verify", "sometimes"),
        ("on_bad_block", "block"),
        ("lease_seconds", -1),
        ("lease_seconds", "a"),
        ("rank", -1),
        ("rank", "a"),
        ("layout", 5),
    ],
)
def test_settings_are_looked_at_when_the_executor_is_made(
    place: Place, name: str, value: Any
) -> None:
    with pytest.raises(ArgumentFault, match=name):
        Executor(place.storage, settings=Settings(**{name: value}))


def test_a_report_is_json(place: Place, given: Given) -> None:
    values = json.loads(json.dumps(execute(place.storage, PLAN).as_values()))
    assert values["materialised"] == [[32, 128]]
    assert values["spans"][1] == {
        "span": 1,
        "target": [32, 128],
        "donor": "donor",
        "offered_blocks": 6,
        "accepted_blocks": 6,
        "landed_blocks": 6,
        "bytes": 6 * 9512,
        "cause": "",
        "reason": "",
        "states": {"VERIFIED": 12},
    }


def test_exact_hits_end_with_the_first_block_that_is_not_there(place: Place, given: Given) -> None:
    place.damage(bytes.fromhex(given.manifest.blocks[2 * 3].key), lambda value: None)
    if hasattr(place.storage, "blocks"):  # a namespace tells by the record beside the block
        digests = place.storage.resolve("donor").table.digests
        place.storage.blocks.delete(digests[6:7], sizes=512)
    asked = plan(*PLAN.spans, contents=tuple(one.hex() for one in contents(9, 1000)))
    assert execute(place.storage, asked, layout=SHAPE).exact_blocks == 3


def test_a_reason_is_one_short_line(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN, Hook(lambda offer: Decline("not\nthis " * 200)))
    assert report.spans[1].reason.startswith("not this not this")
    assert len(report.spans[1].reason) == 300


@pytest.mark.parametrize(
    "made",
    [
        plan(donor(0, 0, 1, name="d" * 5000)),
        plan(donor(0, 0, 1, name=5)),  # type: ignore[arg-type]
        plan(DonorSpan(target=Range(0, 16), donor="d", source=Range(1 << 53, (1 << 53) + 16))),
        Plan(request="", tokens=16, block_tokens=16, spans=(FreshSpan(target=Range(0, 16)),)),
        Plan(request="r", tokens="16", block_tokens=16, spans=()),  # type: ignore[arg-type]
    ],
)
def test_a_plan_that_could_not_be_read_back_is_refused(place: Place, made: Plan) -> None:
    with pytest.raises(DocumentFault):
        execute(place.storage, made)
