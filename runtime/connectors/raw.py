"""Memory of a server's, by its address: tensors and addresses in, arrays of bytes out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.spans import span_of

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Place:
    """What NumPy makes an array of; the array holds it, and it what owns the memory."""

    address: int
    size: int
    owner: Any

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self.address, False),
        }


def bytes_at(address: int, size: int, owner: Any = None) -> Bytes:
    """Return an array of the bytes at an address of the host.

    Args:
        address: where they begin.
        size: how many.
        owner: what is held as long as the array.
    """
    if address <= 0 or size <= 0:
        raise ArgumentFault(f"{size} bytes at address {address:#x} are no memory")
    return np.asarray(_Place(address, size, owner))


def bytes_of(name: str, given: Any, size: Any = None) -> Bytes:
    """Return the bytes of a tensor on the host, a buffer, or an address with its size.

    Tensors are taken by their address: their types need not be NumPy's.

    Args:
        name: of the argument, for messages.
        given: it.
        size: bytes at an address.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return bytes_at(given, int(size or 0))
    if not hasattr(given, "data_ptr"):
        return span_of(name, given).view
    if str(getattr(given, "device", "cpu")).partition(":")[0] != "cpu":
        raise ArgumentFault(f"{name} is a tensor on {given.device}; one on the CPU is needed")
    if not given.is_contiguous():
        raise ArgumentFault(f"{name} is not in one piece; .contiguous() makes a copy that is")
    return bytes_at(given.data_ptr(), math.prod(given.shape) * given.element_size(), given)
