"""How a controller reaches memory that the runtime allocates for a queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Memory
from xiokv.runtime.errors import RuntimeFault


@dataclass(frozen=True, slots=True)
class Addressing:
    """How a controller reaches memory; by its own address where both are None.

    Attributes:
        iova: (address, bytes) to the IOVA of memory that is contiguous for the controller.
        page_table: (address, bytes) to the IOVA of every page, the first page included
            where the address lies within it.
    """

    iova: Callable[[int, int], int] | None = None
    page_table: Callable[[int, int], Sequence[int]] | None = None

    def contiguous(self, memory: Memory, size: int) -> int:
        """Return the IOVA of memory that must be contiguous for the controller."""
        if self.iova is not None:
            return self.iova(memory.address, size)
        if self.page_table is None:
            return memory.iova
        pages = self.page_table(memory.address, size)
        if any(page != pages[0] + i * abi.PAGE_BYTES for i, page in enumerate(pages)):
            raise RuntimeFault(
                f"the PRP pool of {size} bytes is not contiguous for the controller; give"
                " iova= for such memory, or a smaller window or max_transfer"
            )
        return pages[0]
