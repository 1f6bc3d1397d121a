"""How a controller reaches memory that the runtime allocates for a queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xiokv.runtime import abi
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

    def contiguous(self, address: int, size: int, plain: int) -> int:
        """Return the IOVA of memory that has to be contiguous for the controller.

        Args:
            address: device address of the memory.
            size: its bytes.
            plain: its IOVA where nothing translates.
        """
        if self.iova is not None:
            return self.iova(address, size)
        if self.page_table is None:
            return plain
        pages = self.page_table(address, size)
        if any(page != pages[0] + i * abi.PAGE_BYTES for i, page in enumerate(pages)):
            raise RuntimeFault(
                f"{size} bytes at {address:#x} are not contiguous for the controller; PRP pools"
                " and value buffers have to be: use smaller ones, or memory that is"
            )
        return pages[0] + address % abi.PAGE_BYTES
