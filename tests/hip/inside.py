"""What processes with the stand-in library use: hip-python, and a stream, memory, kernels."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any


def take(result: tuple[Any, ...]) -> Any:
    """Return what a call gave, which has to have gone well."""
    error, *given = result
    assert error == 0, error.name
    return given[0] if len(given) == 1 else tuple(given)


def bindings() -> Any:
    """Import hip-python, which this process need not have when it reads this file."""
    from hip import hip

    return hip


class Bench:
    """A stream, a module where there is one, and memory of both kinds."""

    def __init__(self, code: str | None = None) -> None:
        self.hip = bindings()
        self.stream = self.new_stream()
        if code is not None:
            self.module = take(self.hip.hipModuleLoadData(Path(code).read_bytes()))

    def new_stream(self) -> Any:
        return take(self.hip.hipStreamCreateWithFlags(self.hip.hipStreamNonBlocking))

    def pinned(self, size: int) -> tuple[int, Any]:
        """Return page-locked memory: its address, and an array over it."""
        pointer = int(take(self.hip.hipHostMalloc(size, self.hip.hipHostMallocMapped)))
        return pointer, (ctypes.c_uint32 * (size // 4)).from_address(pointer)

    def device(self, size: int) -> int:
        return int(take(self.hip.hipMalloc(size)))

    def copy(self, to: int, source: int, size: int) -> None:
        kind = self.hip.hipMemcpyKind.hipMemcpyDefault
        take(self.hip.hipMemcpyAsync(to, source, size, kind, self.stream))

    def synchronize(self, stream: Any = None) -> str:
        (error,) = self.hip.hipStreamSynchronize(stream or self.stream)
        return str(error.name)

    def record(self, stream: Any = None, flags: int = 0) -> Any:
        event = take(self.hip.hipEventCreateWithFlags(flags))
        take(self.hip.hipEventRecord(event, stream or self.stream))
        return event

    def kernel(self, name: str) -> Any:
        return take(self.hip.hipModuleGetFunction(self.module, name))

    def launch(self, name: str, *arguments: Any, shape: Any = (1, 1), stream: Any = None) -> str:
        groups, lanes = shape
        (error,) = self.hip.hipModuleLaunchKernel(
            self.kernel(name), groups, 1, 1, lanes, 1, 1, 0, stream or self.stream, None, arguments
        )
        return str(error.name)
