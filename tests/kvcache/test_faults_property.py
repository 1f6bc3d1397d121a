"""Whatever goes wrong with a store, no wrong byte is ever marked as materialised.

Plans, decisions and faults are drawn at random. What is right is known without the store:
each block is made of its donor, generation and place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.materialiser import Accept, AcceptAll, Decision, Decline, Offer
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.report import Cause, Report
from xiokv.runtime.kvcache.storage import NewDonor
from xiokv.runtime.module import Module
from xiokv.runtime.testing.rig import Rig, make_rig

from .donors import BLOCK_TOKENS, TENANT, contents, joined, layout

SHAPE = layout(512, 9001)
SHARDS = len(SHAPE.shards)
ROWS = 6
DONORS = ("a", "b", "c")
PATIENCE = 0.05


def block(donor: str, generation: int, index: int) -> Any:
    """Return what a block of a donor holds, in every byte."""
    size = SHAPE.shards[index % SHARDS].bytes
    seed = [ord(donor), generation, index]
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def offered(donor: str, generation: int) -> tuple[NewDonor, Any]:
    """Return a donor of a generation: another generation has other tokens."""
    first = 1000 * ord(donor) + 100_000 * generation
    payload = [block(donor, generation, index) for index in range(ROWS * SHARDS)]
    return NewDonor(donor, SHAPE, contents(ROWS, first), generation=generation), joined(payload)


@st.composite
def spans(draw: st.DrawFn) -> Plan:
    """Return a plan of a few spans, some of a donor that is not there."""
    found: list[Any] = []
    end = 0
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            start = draw(st.integers(0, ROWS - 1))
            rows = draw(st.integers(1, ROWS - start))
            target = Range(end, end + rows * BLOCK_TOKENS)
            found.append(
                DonorSpan(
                    target=target,
                    donor=draw(st.sampled_from((*DONORS * 4, "nobody"))),
                    source=Range(start * BLOCK_TOKENS, (start + rows) * BLOCK_TOKENS),
                    generation=draw(st.sampled_from([None, None, None, 1, 1, 2])),
                )
            )
        else:
            target = Range(end, end + BLOCK_TOKENS)
            found.append(FreshSpan(target=target))
        end = target.end
    return Plan(request="r", tokens=end, block_tokens=BLOCK_TOKENS, spans=tuple(found))


@dataclass
class World:
    """A controller and two tenants' storages on it.

    Attributes:
        now: what the clock of the leases says.
        during: happens between the lease and the Retrieve.
    """

    rig: Rig
    now: float = 0.0
    during: list[Callable[[], None]] = field(default_factory=list)
    touched: bool = False

    def __post_init__(self) -> None:
        self.storage = KvStorage(self.rig.kv, TENANT, clock=lambda: self.now)
        self.stranger = KvStorage(self.rig.kv, Keyspace("stranger"), clock=lambda: self.now)
        fetch = self.storage.retrieve

        def retrieve(*arguments: Any, **options: Any) -> Any:
            for happens in self.during:
                happens()
            return fetch(*arguments, **options)

        self.storage.retrieve = retrieve  # type: ignore[method-assign]

    def keys(self, donor: str, generation: int) -> list[bytes]:
        """Return the keys of a donor's blocks."""
        table = self.storage.resolve(donor).table
        return [row.tobytes() for row in table.keys]


Fault = Callable[[World, int], None]


def _key(world: World, number: int) -> bytes:
    donor = DONORS[number % len(DONORS)]
    keys = world.keys(donor, 1)
    return keys[number // len(DONORS) % len(keys)]


def _later(happens: Callable[[World], None]) -> Fault:
    return lambda world, number: world.during.append(lambda: happens(world))


def _publish(world: World, number: int) -> None:
    donor = DONORS[number % len(DONORS)]
    world.storage.publish(*offered(donor, 2))


def _swap(world: World, number: int) -> None:
    """Store one block's bytes under another's key: right in size, wrong in content."""
    keys = world.keys(DONORS[number % len(DONORS)], 1)
    value = bytearray(8192)
    size = int(world.rig.kv.retrieve([keys[0]], value).value_size[0])
    world.rig.kv.store([keys[2]], [bytes(value[:size])]).raise_for_status()


def _stranger(world: World, number: int) -> None:
    """Let this tenant's donor key lead to another tenant's manifest."""
    donor = DONORS[number % len(DONORS)]
    head = bytearray(8192)
    keys = [space.donor_key(donor, 0) for space in (world.stranger.keyspace, TENANT)]
    world.stranger.publish(*offered(donor, 1))
    size = int(world.rig.kv.retrieve(keys[:1], head).value_size[0])
    world.rig.kv.store(keys[1:], [bytes(head[:size])]).raise_for_status()


def _another_donor(world: World, number: int) -> None:
    """Let one donor's key lead to the manifest of another of the same tenant."""
    one, other = (DONORS[(number + index) % len(DONORS)] for index in range(2))
    head = bytearray(8192)
    size = int(world.rig.kv.retrieve([TENANT.donor_key(one, 0)], head).value_size[0])
    world.rig.kv.store([TENANT.donor_key(other, 0)], [bytes(head[:size])]).raise_for_status()


def _controller(kind: str, **options: Any) -> Fault:
    return lambda world, number: world.rig.controller.fault(kind, **options)


def _lease_ends(world: World) -> None:
    world.now += 31


#: Faults of the store first, then those that strike commands: the kit wants it so.
STORED: dict[str, Fault] = {
    "missing": lambda world, number: world.rig.kv.delete([_key(world, number)]).raise_for_status(),
    "truncated": lambda world, number: world.rig.faults.truncate([_key(world, number)], 100),
    "lengthened": lambda world, number: world.rig.faults.lengthen([world.keys("a", 1)[0]], 4),
    "flipped": lambda world, number: world.rig.faults.flip([_key(world, number)]),
    "swapped": _swap,
    "another generation": _publish,
    "another tenant": _stranger,
    "another donor": _another_donor,
}
STRIKING: dict[str, Fault] = {
    "misses": lambda world, number: world.rig.faults.miss([_key(world, number)]),
    "errors": lambda world, number: world.rig.faults.fail([_key(world, number)]),
    "drops": lambda world, number: world.rig.faults.drop([_key(world, number)]),
    "late": lambda world, number: world.rig.faults.delay([_key(world, number)], 3 * PATIENCE),
    "out of order": _controller("reorder", amount=8),
    "twice": _controller("duplicate", probability=0.3),
    "sizes that are false": _controller("bad_size", probability=0.1),
    "unknown commands": _controller("unknown_cid", probability=0.2),
    "a lease that ends": _later(_lease_ends),
    "a controller that dies": _later(lambda world: world.rig.faults.hang()),
}


class Hook(AcceptAll):
    """A backend that decides by a number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def consider(self, offer: Offer) -> Decision:
        first = self._number % offer.blocks
        if self._number % 7 == 0:
            return Decline("not today")
        return Accept() if self._number % 3 else Accept(Range(first, offer.blocks))


def check(report: Report, plan: Plan) -> int:
    """Check every byte that counts, and that the rest is accounted for."""
    view = np.asarray(report.buffer)
    counted = 0
    for span, position, offsets in report.placed():
        planned = span.span
        assert isinstance(planned, DonorSpan)
        assert span.fetch is not None
        generation = span.fetch.lease.donor.manifest.generation
        row = (planned.source.start + position - planned.target.start) // BLOCK_TOKENS
        for shard, offset in enumerate(offsets):
            expected = block(planned.donor, generation, row * SHARDS + shard)
            assert (view[offset : offset + len(expected)] == expected).all()
        counted += 1
    for span in report.spans:
        planned_rows = len(span.span.target) // BLOCK_TOKENS
        assert (span.cause is Cause.NONE) == (span.landed == planned_rows and counted > 0)
    covered = sorted((part.start, part.end) for part in (*report.materialised, *report.fresh))
    assert covered[0][0] == 0
    assert covered[-1][1] == plan.tokens
    assert all(one[1] == two[0] for one, two in pairwise(covered))
    return counted


@pytest.fixture(scope="module")
def make(own_surroundings: None, xiokv_module: Module) -> Iterator[Callable[[], World]]:
    rigs: list[Rig] = []

    def world() -> World:
        rigs.append(
            make_rig(xiokv_module, controller={"value_max": 8192}, queues=2, timeout=PATIENCE)
        )
        made = World(rigs[-1])
        # What comes before the faults is not measured by the plans' patience.
        with xiokv_module.attach(rigs[-1].controller, queues=1, timeout=10) as patient:
            storage = KvStorage(patient, TENANT)
            for donor in DONORS:
                storage.publish(*offered(donor, 1))
        return made

    yield world
    for rig in rigs:
        rig.close()


NUMBERS = st.integers(0, 10_000)


def faults_of(kinds: dict[str, Fault]) -> Any:
    return st.lists(st.tuples(st.sampled_from(sorted(kinds)), NUMBERS), max_size=3)


@pytest.mark.slow
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    plans=st.lists(spans(), min_size=1, max_size=3),
    stored=faults_of(STORED),
    striking=faults_of(STRIKING),
    number=NUMBERS,
    verify=st.sampled_from(["now", "later"]),
    policy=st.sampled_from(["tail", "span"]),
)
def test_no_wrong_byte_is_ever_materialised(
    make: Callable[[], World],
    plans: list[Plan],
    stored: list[tuple[str, int]],
    striking: list[tuple[str, int]],
    number: int,
    verify: Any,
    policy: Any,
) -> None:
    world = make()
    try:
        for kinds, drawn in ((STORED, stored), (STRIKING, striking)):
            for name, which in drawn:
                try:
                    kinds[name](world, which)
                except RuntimeFault:  # an earlier fault took away what this one needs
                    event(f"{name}: not possible any more")
        executor = Executor(
            world.storage, Hook(number), settings=Settings(verify=verify, on_bad_block=policy)
        )
        for plan in plans:
            report = executor.settle(executor.execute(plan))
            landed = check(report, plan)
            event("something landed" if landed else "nothing landed")
    finally:
        world.rig.close()
