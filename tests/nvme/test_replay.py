"""xiokv replay on a namespace that is passed through."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from xiokv.runtime import KV, Emulator, passthrough
from xiokv.runtime.cli import main
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.replay import place
from xiokv.runtime.kvcache.replay.place import Where
from xiokv.runtime.kvcache.replay.shapes import Recipe, generate

from .conftest import DEVICE, Standin

OPTIONS = ("replay", "--generate", "4", "--queues", "2", "--block-bytes", "4KiB,9000", "--json")


@pytest.fixture
def _passed_through(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "passthrough", partial(passthrough, ioctl=standin.ioctl))


@pytest.mark.usefixtures("_passed_through")
def test_plans_are_replayed_on_a_device_and_nothing_is_left_there(
    emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([*OPTIONS, "--device", DEVICE])
    values = json.loads(capsys.readouterr().out)
    assert not left.value.code
    assert values["setting"]["device"] == DEVICE
    for one in values["runs"]:
        assert one["checked_bytes"] == one["metrics"]["materialised_bytes"] > 0
    assert emulator.counters().keys == 0


@pytest.mark.usefixtures("_passed_through")
def test_nothing_is_left_where_a_replay_is_cut_off(
    emulator: Emulator, standin: Standin, tmp_path: Path
) -> None:
    plans = tmp_path / "plans"
    plans.write_bytes(b"".join(plan.canonical + b"\n" for plan in generate(Recipe(2))) + b"{}\n")
    with pytest.raises(SystemExit) as left:
        main(["replay", str(plans), "--device", DEVICE, "--block-bytes", "4KiB"])
    assert left.value.code == 1
    assert len(standin.calls()) > 100
    assert emulator.counters().keys == 0


@pytest.mark.usefixtures("_passed_through")
def test_emitted_keys_are_those_of_values_that_are_there(kv: KV, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    with pytest.raises(SystemExit) as left:
        main([*OPTIONS, "--device", DEVICE, "--emit-xio-keys", str(path)])
    assert not left.value.code
    keys = np.fromfile(path, np.uint8).reshape(-1, 20)[:, :16]
    result = kv.retrieve(np.ascontiguousarray(keys), np.zeros(4096 * len(keys), np.uint8))
    result.raise_for_status()
    assert set(result.value_size.tolist()) == {4096}


@pytest.mark.usefixtures("_passed_through")
def test_what_is_kept_is_there_for_the_next(
    kv: KV, emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        with pytest.raises(SystemExit) as left:
            main([*OPTIONS, "--device", DEVICE, "--keep"])
        assert not left.value.code
    capsys.readouterr()
    assert emulator.counters().keys > 0
    storage = KvStorage(kv, Where(seed=1).keyspace)
    assert storage.resolve("instruction-0-1").manifest.layout.shards[0].bytes == 9000
