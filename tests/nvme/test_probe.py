"""xiokv probe, on the embedded controller and on a namespace that is passed through."""

from __future__ import annotations

import json
from functools import partial

import pytest
from click.testing import CliRunner

from xiokv.runtime import Emulator
from xiokv.runtime.cli import main
from xiokv.runtime.commands.probe import command
from xiokv.runtime.nvme import passthrough, probe

from .conftest import DEVICE, Standin


def test_it_tells_of_a_namespace_and_changes_nothing(
    emulator: Emulator, standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "passthrough", partial(passthrough, ioctl=standin.ioctl))
    done = CliRunner().invoke(command, [DEVICE, "--json"])
    told = json.loads(done.output)
    assert (told["nsid"], told["random_key"], told["first_keys"]) == (7, "MISSING", [])
    assert told["key_max_bytes"] == 16
    assert {call[0] for call in standin.calls()} == {0x14, 0x06}


def test_what_it_writes_is_gone_afterwards(
    emulator: Emulator, standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "passthrough", partial(passthrough, ioctl=standin.ioctl))
    told = probe.probe(DEVICE, write=True)
    assert told["retrieve_us"] > 0
    assert [call[0] for call in standin.calls()][-3:] == [0x01, 0x02, 0x10]
    assert emulator.counters().keys == 0


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
