"""A tensor on NumPy: as much of PyTorch's as servers and connectors use on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np


class Dtype:
    """A type of elements, which prints as PyTorch's does."""

    def __init__(self, name: str, kind: Any) -> None:
        self.name = name
        self.kind = np.dtype(kind)
        self.itemsize = self.kind.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"


# NumPy has no bfloat16: its bits are what matters here.
bfloat16 = Dtype("bfloat16", np.uint16)
float16 = Dtype("float16", np.uint16)
uint8 = Dtype("uint8", np.uint8)
int64 = Dtype("int64", np.int64)


class Storage:
    """What a tensor is a view of."""

    def __init__(self, base: np.ndarray) -> None:
        self._base = base

    def data_ptr(self) -> int:
        return self._base.ctypes.data

    def nbytes(self) -> int:
        return self._base.nbytes


class Tensor:
    """An array with a type of its own, and the storage that it is a view of."""

    def __init__(
        self, array: np.ndarray, dtype: Dtype = bfloat16, base: Any = None, device: str = "cpu"
    ) -> None:
        self.device = device
        self.array = array
        self.dtype = dtype
        self.base = array if base is None else base

    def __getattr__(self, name: str) -> Any:
        if name in ("__dlpack__", "__dlpack_device__", "shape", "tolist", "ndim"):
            return getattr(self.array, name)
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Tensor:
        index = index.array if isinstance(index, Tensor) else index
        got = self.array[index]
        fancy = isinstance(index, (list, np.ndarray))
        return self._like(np.asarray(got), None if fancy else self.base)

    def __setitem__(self, index: Any, value: Tensor) -> None:
        assert value.device == self.device
        self.array[index] = value.array

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def element_size(self) -> int:
        return self.array.itemsize

    def numel(self) -> int:
        return self.array.size

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def storage_offset(self) -> int:
        return (self.data_ptr() - self.base.ctypes.data) // self.array.itemsize

    def untyped_storage(self) -> Storage:
        return Storage(self.base)

    def as_strided(self, size: Any, stride: Any, storage_offset: int = 0) -> Tensor:
        flat = self.base.reshape(-1).view(self.array.dtype)[storage_offset:]
        steps = [step * flat.itemsize for step in stride]
        view = np.lib.stride_tricks.as_strided(flat, tuple(size), steps)
        return self._like(view, self.base)

    def flatten(self) -> Tensor:
        return self._like(self.array.reshape(-1))

    def reshape(self, *shape: int) -> Tensor:
        return self._like(self.array.reshape(shape), self.base)

    def view(self, dtype: Dtype) -> Tensor:
        return Tensor(self.array.view(dtype.kind), dtype, self.base, self.device)

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def to(self, device: str) -> Tensor:
        return (
            self if device == self.device else Tensor(self.array.copy(), self.dtype, None, device)
        )

    def _like(self, array: np.ndarray, base: Any = None) -> Tensor:
        return Tensor(array, self.dtype, base, self.device)

    def item(self) -> Any:
        return self.array.item()


def zeros(shape: Any, dtype: Dtype = bfloat16, **_: Any) -> Tensor:
    return Tensor(np.zeros(shape, dtype.kind), dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    return Tensor(array, uint8)
