"""The controller's options, from Python's arguments to the C structure."""

from __future__ import annotations

from xiokv.runtime.emulator.library import Config
from xiokv.runtime.errors import ArgumentFault

STORES = ("memory",)

# Bits of xiokv_emu_config.flags.
FLAGS = {
    "strict": 1 << 0,
    "hashed_list": 1 << 1,
    "wrap_list": 1 << 2,
    "delete_missing_fails": 1 << 3,
    "sct1": 1 << 4,
    "store_returns_size": 1 << 5,
    "null": 1 << 6,
    "distinct_dw0": 1 << 7,
    "split_cqe": 1 << 8,
}

# Numbers whose 0 stands for no limit or for the number itself; of others, the C side takes
# 0 for "the default", which an explicit 0 is not.
_MAY_BE_ZERO = ("mdts", "dstrd", "max_keys", "active_format", "seed")
_WIDTHS = {"capacity": 64, "seed": 64}


def check_integer(name: str, value: object, low: int, high: int) -> None:
    """Refuse what is no integer, or not within its limits."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentFault(f"{name} is {value!r}; allowed is an integer")
    if not low <= value <= high:
        raise ArgumentFault(f"{name} is {value}; allowed are {low} to {high}")


def check_store(store: str) -> None:
    """Refuse a value store that this version does not have."""
    if store not in STORES:
        raise ArgumentFault(f"store is {store!r}; allowed are: {', '.join(STORES)}")


def config(numbers: dict[str, int], flags: dict[str, bool]) -> Config:
    """Return the structure for options by their names.

    Every number fits its member; whether it is within its limits is the C side's to say.
    """
    for name, value in numbers.items():
        low = 0 if name in _MAY_BE_ZERO else 1
        check_integer(name, value, low, (1 << _WIDTHS.get(name, 32)) - 1)
    bits = sum(FLAGS[name] for name, wanted in flags.items() if wanted)
    return Config(flags=bits, **numbers)
