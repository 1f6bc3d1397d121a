"""How each AMD architecture spells what keeps memory in order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .listing import Instruction


@dataclass(frozen=True, slots=True)
class Architecture:
    """One way to spell it.

    Attributes:
        system: modifiers of an access that passes by the caches, up to the host's memory.
        write_back: what carries a wave's stores on to the host's memory; None where there
            is no cache that holds them back.
        invalidates: what makes later loads see the host's memory, all of them together.
        stores_done: waits until a wave's stores are where they go.
    """

    system: frozenset[str]
    write_back: str | None
    invalidates: frozenset[str]
    stores_done: re.Pattern[str]

    def waits_for_stores(self, instruction: Instruction) -> bool:
        """Return whether no store of the wave is on its way after the instruction."""
        return self.stores_done.search(instruction.text) is not None

    def is_system(self, instruction: Instruction) -> bool:
        """Return whether an access passes by the caches."""
        return self.system <= set(instruction.text.split())


_GFX9_STORES = re.compile(r"^s_waitcnt .*vmcnt\(0\)")
# Stores are what is above the low byte, where one number stands for two counters.
_GFX12_STORES = re.compile(r"^s_wait_storecnt(?: 0x0$|_dscnt 0x[0-9a-f]{1,2}$)")
_GFX11 = Architecture(
    frozenset({"glc", "dlc"}),
    None,
    frozenset({"buffer_gl1_inv", "buffer_gl0_inv"}),
    re.compile(r"^s_waitcnt_vscnt null, 0x0$"),
)

ARCHITECTURES = {
    "gfx90a": Architecture(
        frozenset({"glc"}),
        "buffer_wbl2",
        frozenset({"buffer_invl2", "buffer_wbinvl1_vol"}),
        _GFX9_STORES,
    ),
    "gfx942": Architecture(
        frozenset({"sc0", "sc1"}),
        "buffer_wbl2 sc0 sc1",
        frozenset({"buffer_inv sc0 sc1"}),
        _GFX9_STORES,
    ),
    "gfx1100": _GFX11,
    "gfx1151": _GFX11,
    "gfx1201": Architecture(
        frozenset({"scope:SCOPE_SYS"}),
        "global_wb scope:SCOPE_SYS",
        frozenset({"global_inv scope:SCOPE_SYS"}),
        _GFX12_STORES,
    ),
}
