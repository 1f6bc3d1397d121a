"""A module and what it runs on: the target that is wanted, and what a loaded one says."""

from __future__ import annotations

import logging
import sys

import pytest

from xiokv.runtime.description import SemanticField
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault
from xiokv.runtime.module import load
from xiokv.runtime.operation import Operation

from .conftest import edit, refusal


def test_an_unknown_target_names_those_there_are() -> None:
    with pytest.raises(ArgumentFault, match=r"target 'sycl': .* driver for cuda, hip, host"):
        load("sycl")


def test_the_environment_forces_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XIOKV_TARGET", "sycl")
    with pytest.raises(ArgumentFault, match=r"target 'sycl' \(\$XIOKV_TARGET\)"):
        load("host")


def test_a_target_that_is_forced_is_told_of_with_what_it_overrules(
    copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy()
    monkeypatch.setenv("XIOKV_TARGET", "hip")
    monkeypatch.setitem(sys.modules, "hip", None)
    for wanted in (lambda: load("host"), lambda: load("host", module=folder)):
        with pytest.raises(MissingFault, match="hip-python") as caught:
            wanted()
        assert str(caught.value).splitlines()[-1] == (
            "target: hip ($XIOKV_TARGET), which overrules host"
        )


@pytest.mark.parametrize(
    ("argument", "told"),
    [("cuda", ["target: host ($XIOKV_TARGET), which overrules cuda"]), ("host", []), (None, [])],
)
def test_a_target_that_is_overruled_is_warned_of(
    copy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, argument, told
) -> None:
    monkeypatch.setenv("XIOKV_TARGET", "host")
    with caplog.at_level(logging.WARNING, "xiokv"):
        assert load(argument, module=copy()).target == "host"
    assert caplog.messages == told


def test_a_module_of_a_target_without_a_driver_is_named(copy) -> None:
    folder = copy()
    edit(folder, target="sycl")
    assert "was built for target 'sycl'" in refusal(folder).splitlines()[0]


def test_a_module_of_another_target_than_asked_for_names_both(copy) -> None:
    folder = copy()
    edit(folder, target="cuda")
    with pytest.raises(RuntimeFault, match="built for target 'cuda'; what is wanted is host"):
        load("host", module=folder)


def test_the_host_has_one_device() -> None:
    with pytest.raises(ArgumentFault, match="device 1: the host is device 0"):
        load("host", device=1)


def test_a_command_is_known_by_its_entry(module) -> None:
    assert module.kernel(Operation.RETRIEVE) == "xiokv_batch_retrieve"


def test_an_unknown_command_names_those_there_are(module) -> None:
    with pytest.raises(ArgumentFault, match="no command exec; it has delete, exist, list"):
        module.kernel(Operation.EXEC)


def test_the_fields_of_the_profile_come_with_the_module(copy) -> None:
    folder = copy()
    field = {"name": "layer", "dword": 12, "bits": {"msb": 7, "lsb": 0}, "scope": "batch"}
    edit(folder, profile={"name": "mine", "fields": [{**field, "commands": ["store"]}]})
    description = load(module=folder).description
    assert description.profile == "mine"
    assert description.fields == (SemanticField("layer", 12, 7, 0, "batch", (Operation.STORE,)),)


def test_a_process_loads_as_many_modules_as_it_likes(copy) -> None:
    modules = [load("host", module=copy(str(number))) for number in range(100)]
    assert {module.target for module in modules} == {"host"}
