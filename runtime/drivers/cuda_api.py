"""NVIDIA GPUs, by cuda-bindings: `GpuApi` in terms of CUDA's driver calls.

cuda-bindings 12 and 13 do. A call returns an error code and then its values; an address
goes in as an integer. Work is done in the device's primary context, which PyTorch and the
CUDA runtime use, too.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xiokv.runtime.drivers.cuda_library import bindings, call
from xiokv.runtime.drivers.gpu_api import Handle, PointerInfo, PointerKind
from xiokv.runtime.drivers.vendor_library import NOT_FOUND, NOT_READY, VendorFault
from xiokv.runtime.errors import MissingFault

if TYPE_CHECKING:
    from xiokv.runtime.emulator.library import DmaHook

_NANOSECONDS = 1_000_000_000
_MILLISECONDS = 1000
_NAME_BYTES = 256
_HOST, _DEVICE = 1, 2  # CUmemorytype


class CudaApi:
    """CUDA, as `GpuApi` has it."""

    name = "cuda"

    def __init__(self) -> None:
        """Import cuda-bindings and initialise the library."""
        self._cuda = bindings()
        cuda = self._cuda
        self._host_flags = cuda.CU_MEMHOSTALLOC_PORTABLE | cuda.CU_MEMHOSTALLOC_DEVICEMAP
        self._register_flags = cuda.CU_MEMHOSTREGISTER_PORTABLE | cuda.CU_MEMHOSTREGISTER_DEVICEMAP
        attribute = cuda.CUpointer_attribute
        self._pointer_attributes = (
            attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
            attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        )
        self._contexts: dict[int, Any] = {}
        # The garbage collector frees memory, also while this thread looks a context up.
        self._lock = threading.RLock()

    # Devices

    def device_count(self) -> int:
        """Return the number of devices; raise a MissingFault where there is none."""
        count = int(self._call("cuDeviceGetCount"))
        if count == 0:
            raise MissingFault("no NVIDIA GPU: CUDA finds none; nvidia-smi has to list one")
        return count

    @contextmanager
    def using(self, device: int) -> Iterator[None]:
        """Make a device's primary context the calling thread's; at the end, the former again."""
        context = self.context(device)
        if int(self._call("cuCtxGetCurrent")) == int(context):
            yield
            return
        self._call("cuCtxPushCurrent", context)
        try:
            yield
        finally:
            self._call("cuCtxPopCurrent")

    def context(self, device: int) -> Any:
        """Return the primary context of a device, which stays as long as the process."""
        with self._lock:
            if device not in self._contexts:
                handle = self._call("cuDeviceGet", device)
                self._contexts[device] = self._call("cuDevicePrimaryCtxRetain", handle)
            return self._contexts[device]

    def architecture(self, device: int) -> str:
        """Return the architecture, such as ``sm_90``."""
        attribute = self._cuda.CUdevice_attribute
        major = attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        minor = attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
        return f"sm_{self._attribute(major, device)}{self._attribute(minor, device)}"

    def device_name(self, device: int) -> str:
        """Return the name of a device."""
        name = self._call("cuDeviceGetName", _NAME_BYTES, self._call("cuDeviceGet", device))
        return bytes(name).split(b"\0")[0].decode(errors="replace")

    def clock_hz(self, device: int) -> int:
        """Return the rate of the global timer."""
        return _NANOSECONDS

    def dma_hook(self, device: int) -> DmaHook:
        """Return a new copier: the CPU does not reach the memory of a device."""
        from xiokv.runtime.gpu.copier import CopierHook, Size

        return CopierHook(self, device, Size())

    # Modules

    def load(self, image: bytes) -> Handle:
        """Load a cubin, or compile PTX, which ends with a zero byte."""
        return self._call("cuModuleLoadData", image + b"\0")

    def unload(self, module: Handle) -> None:
        """Unload a module."""
        self._call("cuModuleUnload", module)

    def function(self, module: Handle, name: str) -> Handle | None:
        """Return a kernel, loaded now: a lazy load would wait for kernels that run."""
        function = self._found("cuModuleGetFunction", module, name.encode())
        if function is not None:
            self._load_now(function)
        return function

    def read_global(self, module: Handle, name: str, size: int) -> bytes | None:
        """Return the first bytes of a variable, or None where there is none that large."""
        found = self._found("cuModuleGetGlobal", module, name.encode())
        if found is None or int(found[1]) < size:
            return None
        content = ctypes.create_string_buffer(size)
        # Not in the default stream, whose work waits for that of others.
        stream = self.stream_create()
        try:
            self.copy(ctypes.addressof(content), int(found[0]), size, stream)
            self.stream_synchronize(stream)
        finally:
            self.stream_destroy(stream)
        return content.raw

    # Memory

    def host_alloc(self, size: int) -> tuple[int, int]:
        """Allocate page-locked, mapped memory; return its host and device address."""
        host = int(self._call("cuMemHostAlloc", size, self._host_flags))
        return host, self._device_address(host)

    def host_free(self, address: int) -> None:
        """Free memory of `host_alloc`."""
        self._call("cuMemFreeHost", address)

    def device_alloc(self, size: int, shared: bool) -> int:
        """Allocate memory of the device; others see it as it is, shared or not."""
        return int(self._call("cuMemAlloc", size))

    def device_free(self, address: int) -> None:
        """Free memory of `device_alloc`."""
        self._call("cuMemFree", address)

    def host_register(self, address: int, size: int) -> int:
        """Lock memory of the host in place and map it; return its device address."""
        self._call("cuMemHostRegister", address, size, self._register_flags)
        return self._device_address(address)

    def host_unregister(self, address: int) -> None:
        """Undo `host_register`."""
        self._call("cuMemHostUnregister", address)

    def pointer(self, address: int) -> PointerInfo:
        """Tell what an address leads to."""
        wanted = self._pointer_attributes
        # Of an address that CUDA does not know, all are zero.
        kind, managed, device, at = self._call(
            "cuPointerGetAttributes", len(wanted), wanted, address
        )
        if int(kind) not in (_HOST, _DEVICE):
            return PointerInfo(PointerKind.UNKNOWN, 0, 0)
        found = PointerKind.DEVICE if int(kind) == _DEVICE else PointerKind.PINNED
        return PointerInfo(PointerKind.MANAGED if managed else found, int(device), int(at))

    def copy(self, destination: int, source: int, size: int, stream: int) -> None:
        """Start a copy in a stream."""
        self._call("cuMemcpyAsync", destination, source, size, stream)

    def zero(self, address: int, size: int, stream: int) -> None:
        """Start to fill memory of the device with zeroes."""
        self._call("cuMemsetD8Async", address, 0, size, stream)

    # Streams and events

    def stream_create(self) -> int:
        """Return a new stream that does not wait for the default one."""
        flags = self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        return int(self._call("cuStreamCreate", flags))

    def urgent_stream_create(self) -> int:
        """Return a new stream whose kernels go before those of ordinary ones."""
        flags = self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        _, greatest = self._call("cuCtxGetStreamPriorityRange")
        return int(self._call("cuStreamCreateWithPriority", flags, greatest))

    def stream_destroy(self, stream: int) -> None:
        """Destroy a stream whose work has ended."""
        self._call("cuStreamDestroy", stream)

    def stream_synchronize(self, stream: int) -> None:
        """Wait for the work of a stream."""
        self._call("cuStreamSynchronize", stream)

    def stream_wait(self, stream: int, event: Handle) -> None:
        """Let the later work of a stream wait for an event."""
        self._call("cuStreamWaitEvent", stream, event, 0)

    def event_create(self, timing: bool = False) -> Handle:
        """Return a new event."""
        kinds = self._cuda.CUevent_flags
        flags = kinds.CU_EVENT_DEFAULT if timing else kinds.CU_EVENT_DISABLE_TIMING
        return self._call("cuEventCreate", flags)

    def event_record(self, event: Handle, stream: int) -> None:
        """Let an event come when the present work of a stream has ended."""
        self._call("cuEventRecord", event, stream)

    def event_query(self, event: Handle) -> bool:
        """Tell whether an event has come; raise where work before it failed."""
        try:
            self._call("cuEventQuery", event)
        except VendorFault as fault:
            if fault.code != NOT_READY:
                raise
            return False
        return True

    def event_seconds(self, start: Handle, end: Handle) -> float:
        """Return the time between two events with timing."""
        return float(self._call("cuEventElapsedTime", start, end)) / _MILLISECONDS

    def event_destroy(self, event: Handle) -> None:
        """Destroy an event."""
        self._call("cuEventDestroy", event)

    # Launches

    def launch(
        self, function: Handle, groups: int, lanes: int, stream: int, argument: ctypes.Structure
    ) -> None:
        """Launch a kernel with one argument, passed by value."""
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        at = ctypes.addressof(arguments)
        self._call("cuLaunchKernel", function, groups, 1, 1, lanes, 1, 1, 0, stream, at, 0)

    def _call(self, name: str, *arguments: Any) -> Any:
        return call(self._cuda, name, *arguments)

    def _found(self, name: str, module: Handle, symbol: bytes) -> Any:
        """Call what looks a symbol up; return None where it is not there."""
        try:
            return self._call(name, module, symbol)
        except VendorFault as fault:
            if fault.code != NOT_FOUND:
                raise
            return None

    def _load_now(self, function: Handle) -> None:
        """Finish a lazy load; drivers before CUDA 12.4 do so where an attribute is asked for."""
        try:
            self._call("cuFuncLoad", function)
        except (MissingFault, AttributeError):
            registers = self._cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
            self._call("cuFuncGetAttribute", registers, function)

    def _attribute(self, attribute: Any, device: int) -> int:
        handle = self._call("cuDeviceGet", device)
        return int(self._call("cuDeviceGetAttribute", attribute, handle))

    def _device_address(self, host: int) -> int:
        return int(self._call("cuMemHostGetDevicePointer", host, 0))
