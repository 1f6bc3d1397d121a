"""The software AMD machine, for Python: loads code objects and runs their kernels.

In: code objects, and arguments as bytes. Out: runs, to be stepped or run to the end; a run
that breaks a rule of the machine raises `MachineFault` with the machine's one line.
"""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType

from tests import native

SOURCES = Path(__file__).resolve().parent / "machine"
# Vectorised for this CPU, for the lanes of a wave are loops; a product and a sum stay two.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
TOOLS = ("g++", "clang-19", "ld.lld-19", "llvm-objdump-19")

WEAK = 1 << 0
REAL_TIME = 1 << 1

# Instructions a call of the library: between calls, Python sees its signals.
STEPS = 1 << 20
ERROR_SIZE = 512

_Triple = ctypes.c_uint32 * 3


class MachineFault(Exception):
    """What the machine does not take, or a rule of it that a kernel broke."""


class _Range(ctypes.Structure):
    _fields_ = (("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64))


class _Options(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("instruction_limit", ctypes.c_uint64),
        ("dynamic_lds", ctypes.c_uint32),
        ("range_count", ctypes.c_uint32),
        ("ranges", ctypes.POINTER(_Range)),
    )


def missing_tools() -> list[str]:
    """Return the programs that the machine and its tests need and that are not here."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def build() -> Path:
    """Compile the machine, once a state of its sources on this computer; return the library."""
    return native.library("libamdgpu-machine.so", SOURCES, flags=FLAGS)


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(build()))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    word, number, text = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p
    words = ctypes.POINTER(word)
    for name, result, arguments in (
        ("load", pointer, (text, size, text, size)),
        ("unload", None, (pointer,)),
        ("architecture", text, (pointer,)),
        ("wave", word, (pointer,)),
        ("unknown", text, (pointer,)),
        ("symbol", ctypes.c_int, (pointer, text, ctypes.POINTER(pointer), ctypes.POINTER(number))),
        ("argument", ctypes.c_int, (pointer, text, word, words, words)),
        (
            "start",
            pointer,
            (pointer, text, words, words, text, size, ctypes.POINTER(_Options), text, size),
        ),
        ("step", ctypes.c_int, (pointer, number)),
        ("failure", text, (pointer,)),
        ("instructions", number, (pointer,)),
        ("finish", None, (pointer,)),
    ):
        function = getattr(library, f"amdgpu_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class Image:
    """A loaded code object; a context manager."""

    def __init__(self, elf: bytes) -> None:
        """Load `elf`; raises MachineFault where it is no code object that the machine knows."""
        error = ctypes.create_string_buffer(ERROR_SIZE)
        self._image = _library().amdgpu_load(elf, len(elf), error, ERROR_SIZE)
        if not self._image:
            raise MachineFault(error.value.decode())

    def __enter__(self) -> Image:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unload the code object. No run of it may be left."""
        image, self._image = self._image, None
        _library().amdgpu_unload(image)

    @property
    def architecture(self) -> str:
        """The target, as "gfx942:xnack-"."""
        return str(_library().amdgpu_architecture(self._image).decode())

    @property
    def wave(self) -> int:
        """Lanes of a wave."""
        return int(_library().amdgpu_wave(self._image))

    @property
    def unknown(self) -> list[str]:
        """The instructions that the machine cannot execute: address and text of each."""
        text: bytes = _library().amdgpu_unknown(self._image)
        return text.decode().splitlines()

    def symbol(self, name: str) -> tuple[int, int]:
        """Return address and size of a global; raises KeyError where there is none."""
        address, size = ctypes.c_void_p(), ctypes.c_uint64()
        found = _library().amdgpu_symbol(
            self._image, name.encode(), ctypes.byref(address), ctypes.byref(size)
        )
        if found != 0:
            raise KeyError(name)
        return address.value or 0, size.value

    def argument(self, kernel: str, index: int) -> tuple[int, int]:
        """Return place and size of a kernel's argument; raises IndexError past the last."""
        offset, size = ctypes.c_uint32(), ctypes.c_uint32()
        found = _library().amdgpu_argument(
            self._image, kernel.encode(), index, ctypes.byref(offset), ctypes.byref(size)
        )
        if found != 0:
            raise IndexError(f"{kernel} has no argument {index}")
        return offset.value, size.value

    def start(
        self,
        kernel: str,
        arguments: bytes,
        *,
        groups: Sequence[int] = (1,),
        lanes: Sequence[int] = (64,),
        flags: int = 0,
        seed: int = 0,
        limit: int = 0,
        dynamic_lds: int = 0,
        ranges: Sequence[tuple[int, int]] | None = None,
    ) -> Run:
        """Launch a kernel; nothing runs before the run is stepped.

        Args:
            kernel: Its name.
            arguments: The explicit ones, laid out as the kernel takes them.
            groups: Workgroups in x, and in y and z if need be.
            lanes: Lanes of a workgroup, likewise.
            flags: WEAK, REAL_TIME.
            seed: Of every choice that the machine makes.
            limit: Most instructions of a wave; 0: any number.
            dynamic_lds: Bytes of LDS beyond what the kernel declares.
            ranges: Address and size of what the kernel may reach; None: all of this process.
        """
        held = (_Range * len(ranges or ()))(*(_Range(*each) for each in ranges or ()))
        options = _Options(
            struct_size=ctypes.sizeof(_Options),
            flags=flags,
            seed=seed,
            instruction_limit=limit,
            dynamic_lds=dynamic_lds,
            range_count=len(held),
            ranges=held if ranges is not None else None,
        )
        error = ctypes.create_string_buffer(ERROR_SIZE)
        run = _library().amdgpu_start(
            self._image,
            kernel.encode(),
            _triple(groups),
            _triple(lanes),
            arguments,
            len(arguments),
            ctypes.byref(options),
            error,
            ERROR_SIZE,
        )
        if not run:
            raise MachineFault(error.value.decode())
        return Run(run)


class Run:
    """One launch; a context manager."""

    def __init__(self, run: int) -> None:
        """Take over what amdgpu_start returned."""
        self._run: int | None = run

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()

    def step(self, steps: int) -> bool:
        """Go on for so many instructions and events of memory; return whether there is more."""
        outcome = _library().amdgpu_step(self._run, steps)
        if outcome < 0:
            raise MachineFault(_library().amdgpu_failure(self._run).decode())
        return bool(outcome)

    def to_end(self) -> None:
        """Run until every wave has ended; give launches that may not end a limit."""
        while self.step(STEPS):
            pass

    @property
    def instructions(self) -> int:
        """Instructions of all waves so far."""
        return int(_library().amdgpu_instructions(self._run))

    def finish(self) -> None:
        """Forget the run, ended or not."""
        run, self._run = self._run, None
        _library().amdgpu_finish(run)


def _triple(sizes: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return _Triple(*sizes, *([1] * (3 - len(sizes))))
