"""The copier as a hook on CUDA: what it takes of the device, and gives back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.gpu import copier
from xiokv.runtime.gpu.copier import CopierHook, Size
from xiokv.runtime.gpu.copier_library import Cuda

from .conftest import Memory


class Api:
    """A library that gives out so many things, and keeps account of them.

    Attributes:
        granted: how many more calls that give something out succeed; None for all.
        out: what is not back.
    """

    def __init__(self) -> None:
        self.granted: int | None = None
        self.out: list[object] = []
        self._memory: Memory | None = None

    @contextmanager
    def using(self, device: int) -> Iterator[None]:
        yield

    def architecture(self, device: int) -> str:
        return "sm_90"

    def context(self, device: int) -> int:
        return 1

    def clock_hz(self, device: int) -> int:
        return 10**9

    def load(self, image: bytes) -> object:
        return self._give("module")

    def function(self, module: object, name: str) -> int:
        return 2

    def urgent_stream_create(self) -> Any:
        return self._give("stream")

    def stream_synchronize(self, stream: object) -> None:
        assert stream in self.out

    def host_alloc(self, size: int) -> tuple[int, int]:
        self._memory = Memory(size)
        address = self._memory.address
        self._give(address)
        return address, address

    def unload(self, what: object) -> None:
        self.out.remove(what)

    stream_destroy = host_free = unload

    def _give(self, what: object) -> object:
        if self.granted is not None and len(self.out) == self.granted:
            raise RuntimeFault("refused")
        self.out.append(what)
        return what


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setattr(copier, "kernel_file", lambda *_: Path(__file__))
    monkeypatch.setattr(copier, "_cuda", lambda context, kernel, stream: Cuda())
    return Api()


def make(api: Any, size: Size | None = None) -> CopierHook:
    return CopierHook(api, 0, size or Size(channels=1, slots=2))


@pytest.mark.parametrize("granted", range(3))
def test_a_copier_that_could_not_be_made_leaves_nothing_behind(api: Api, granted: int) -> None:
    api.granted = granted
    with pytest.raises(RuntimeFault, match="refused"):
        make(api)
    assert api.out == []


def test_a_size_that_is_refused_leaves_nothing_behind(api: Api) -> None:
    with pytest.raises(RuntimeFault, match="the copier does not take"):
        make(api, Size(slots=3))
    assert api.out == []


def test_a_hook_that_is_closed_takes_no_notes_and_has_given_everything_back(api: Api) -> None:
    hook = make(api)
    hook.note(4096, 4096, True)
    hook.close()
    hook.close()
    assert api.out == []
    hook.note(4096, 4096, False)
    hook.forget()
    hook.wake()
