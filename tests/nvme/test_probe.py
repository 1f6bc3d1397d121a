"""xiokv probe, on the embedded controller and on a namespace that is passed through."""

from __future__ import annotations

import errno
import json
from functools import partial

import pytest
from click.testing import CliRunner

from xiokv.generated.nvme_kv import StoreOption
from xiokv.runtime import Emulator, Passthrough, RuntimeFault, load
from xiokv.runtime.cli import main
from xiokv.runtime.commands.probe import command
from xiokv.runtime.nvme import passthrough, probe

from .conftest import DEVICE, Standin


@pytest.fixture(autouse=True)
def _stood_in_for(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "passthrough", partial(passthrough, ioctl=standin.ioctl))


def test_it_tells_of_a_namespace_and_changes_nothing(standin: Standin) -> None:
    done = CliRunner().invoke(command, [DEVICE, "--json"])
    told = json.loads(done.output)
    assert (told["nsid"], told["random_key"], told["first_keys"]) == (7, "MISSING", [])
    assert told["key_max_bytes"] == 16
    assert {call[0] for call in standin.calls()} == {0x14, 0x06}


def test_it_lists_the_first_keys_and_no_more(device: Passthrough) -> None:
    keys = [b"%02d" % number for number in range(20)]
    with load("host").attach(device) as kv:
        kv.store(keys, b"", sizes=0).raise_for_status()
    told = probe.probe(DEVICE, write=False)
    assert len(told["first_keys"]) == 5
    assert {bytes.fromhex(key) for key in told["first_keys"]} < set(keys)


def test_what_it_writes_is_gone_afterwards(emulator: Emulator, standin: Standin) -> None:
    told = probe.probe(DEVICE, write=True)
    assert told["retrieve_us"] > 0
    assert [call[0] for call in standin.calls()][-3:] == [0x01, 0x02, 0x10]
    assert emulator.counters().keys == 0
    (store,) = (call for call in standin.calls() if call[0] == 0x01)
    assert StoreOption(store[45]) == StoreOption.DONT_STORE_IF_KEY_EXISTS


@pytest.mark.parametrize("opcode", [0x14, 0x01, 0x02, 0x10])
def test_a_command_that_fails_is_told_and_leaves_no_value(emulator: Emulator, opcode: int) -> None:
    emulator.fault("status", opcode=opcode, nth=1, sc=0x81)
    with pytest.raises(RuntimeFault, match=r"1 of 1 keys failed.*\n.*CAPACITY_EXCEEDED"):
        probe.probe(DEVICE, write=True)
    assert emulator.counters().keys == (1 if opcode == 0x10 else 0)


def test_a_value_that_comes_back_otherwise_is_told(emulator: Emulator) -> None:
    emulator.fault("status", opcode=0x02, sc=0)
    with pytest.raises(RuntimeFault, match="the value came back otherwise than it was stored"):
        probe.probe(DEVICE, write=True)
    assert emulator.counters().keys == 0


def test_what_the_system_refuses_is_said_in_its_words(standin: Standin) -> None:
    standin.fail(errno.EACCES)
    with pytest.raises(RuntimeFault, match=r"(?s)SC 06h.*system refused the call: Permission deni"):
        probe.probe(DEVICE, write=False)


def test_a_device_whose_name_got_lost_is_not_the_embedded_controller() -> None:
    with pytest.raises(RuntimeFault, match="path is ''"):
        probe.probe("", write=False)


def test_without_a_device_it_tries_the_embedded_controller() -> None:
    done = CliRunner().invoke(command, ["--write"])
    assert "embedded controller" in done.output
    assert "random key         MISSING" in done.output


def test_a_device_that_is_not_there_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["probe", "/dev/ng99n1"])
    assert left.value.code == 5
    assert "/dev/ng99n1: No such file" in capsys.readouterr().err


def test_json_has_null_for_no_limit_and_times_in_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    for mdts, limit in ((0, None), (1, 8192)):
        monkeypatch.setattr(probe, "Emulator", partial(Emulator, mdts=mdts))
        told = json.loads(CliRunner().invoke(command, ["--write", "--json"]).output)
        assert told["transfer_max_bytes"] == limit
        times = [value for name, value in told.items() if name.endswith("_us")]
        assert len(times) == 4
        assert times == [round(value, 1) for value in times]
