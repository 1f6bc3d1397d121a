"""AMD GPUs, by hip-python: `GpuApi` in terms of HIP's calls.

hip-python from 6.2 to 10 does. A call returns an error code and then its values; an address
goes in as an integer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xiokv.runtime.drivers.gpu_api import Handle, PointerInfo, PointerKind
from xiokv.runtime.drivers.hip_library import bindings, call, decoded
from xiokv.runtime.drivers.vendor_library import NO_DEVICE, NOT_FOUND, NOT_READY, VendorFault
from xiokv.runtime.errors import MissingFault, RuntimeFault

_INVALID_VALUE = 1

_KHZ = 1000
_MILLISECONDS = 1000


class HipApi:
    """HIP, as `GpuApi` has it."""

    name = "hip"

    def __init__(self) -> None:
        """Import hip-python."""
        self._hip = bindings()
        hip = self._hip
        self._host_flags = (
            hip.hipHostMallocPortable | hip.hipHostMallocMapped | hip.hipHostMallocCoherent
        )
        self._register_flags = hip.hipHostRegisterPortable | hip.hipHostRegisterMapped
        self._kinds = {
            int(hip.hipMemoryType.hipMemoryTypeHost): PointerKind.PINNED,
            int(hip.hipMemoryType.hipMemoryTypeDevice): PointerKind.DEVICE,
            int(hip.hipMemoryType.hipMemoryTypeManaged): PointerKind.MANAGED,
            int(hip.hipMemoryType.hipMemoryTypeUnified): PointerKind.MANAGED,
        }

    # Devices

    def device_count(self) -> int:
        """Return the number of devices; raise a MissingFault where there is none."""
        try:
            count = int(self._call("hipGetDeviceCount"))
        except VendorFault as fault:
            if fault.code != NO_DEVICE:
                raise
            count = 0
        if count == 0:
            raise MissingFault(
                "no AMD GPU: HIP finds none; /dev/kfd has to be there and open to you, and"
                " HIP_VISIBLE_DEVICES may hide devices"
            )
        return count

    @contextmanager
    def using(self, device: int) -> Iterator[None]:
        """Make a device the calling thread's current one; at the end, the former again."""
        former = int(self._call("hipGetDevice"))
        if former == device:
            yield
            return
        self._call("hipSetDevice", device)
        try:
            yield
        finally:
            self._call("hipSetDevice", former)

    def architecture(self, device: int) -> str:
        """Return the target identifier, such as ``gfx942:sramecc+:xnack-``."""
        return decoded(self._properties(device).gcnArchName)

    def device_name(self, device: int) -> str:
        """Return the name of a device."""
        return decoded(self._properties(device).name)

    def clock_hz(self, device: int) -> int:
        """Return the rate of the counter that runs at the same speed always."""
        rate = self._hip.hipDeviceAttribute_t.hipDeviceAttributeWallClockRate
        hz = int(self._call("hipDeviceGetAttribute", rate, device)) * _KHZ
        if hz == 0:
            raise RuntimeFault(f"HIP states no rate of device {device}'s clock: update ROCm")
        return hz

    def dma_hook(self, device: int) -> None:
        """Return None: the CPU reaches the memory of a device through a large BAR.

        Raises:
            RuntimeFault: this one has none.
        """
        if not self._properties(device).isLargeBar:
            raise RuntimeFault(
                f"device {device} shows the CPU no large BAR, so that a controller on the CPU"
                " does not reach its memory: enable Resizable BAR"
            )

    # Modules

    def load(self, image: bytes) -> Handle:
        """Load a code object, which has to stay where it is."""
        return self._call("hipModuleLoadData", image)

    def unload(self, module: Handle) -> None:
        """Unload a module."""
        self._call("hipModuleUnload", module)

    def function(self, module: Handle, name: str) -> Handle | None:
        """Return a kernel, or None where there is none of that name."""
        return self._found("hipModuleGetFunction", module, name.encode())

    def read_global(self, module: Handle, name: str, size: int) -> bytes | None:
        """Return the first bytes of a variable, or None where there is none that large."""
        found = self._found("hipModuleGetGlobal", module, name.encode())
        if found is None or int(found[1]) < size:
            return None
        host, _ = self.host_alloc(size)
        stream = self.stream_create()
        try:
            self.copy(host, int(found[0]), size, stream)
            self.stream_synchronize(stream)
            return ctypes.string_at(host, size)
        finally:
            self.stream_destroy(stream)
            self.host_free(host)

    # Memory

    def host_alloc(self, size: int) -> tuple[int, int]:
        """Allocate page-locked, coherent memory; return its host and device address."""
        host = int(self._call("hipHostMalloc", size, self._host_flags))
        return host, self._device_address(host)

    def host_free(self, address: int) -> None:
        """Free memory of `host_alloc`."""
        self._call("hipHostFree", address)

    def device_alloc(self, size: int, shared: bool) -> int:
        """Allocate memory of the device, fine-grained where others write it meanwhile."""
        if shared:
            flags = self._hip.hipDeviceMallocFinegrained
            return int(self._call("hipExtMallocWithFlags", size, flags))
        return int(self._call("hipMalloc", size))

    def device_free(self, address: int) -> None:
        """Free memory of `device_alloc`."""
        self._call("hipFree", address)

    def host_register(self, address: int, size: int) -> int:
        """Lock memory of the host in place and map it; return its device address."""
        self._call("hipHostRegister", address, size, self._register_flags)
        return self._device_address(address)

    def host_unregister(self, address: int) -> None:
        """Undo `host_register`."""
        self._call("hipHostUnregister", address)

    def pointer(self, address: int) -> PointerInfo:
        """Tell what an address leads to."""
        try:
            found = self._filled("hipPointerGetAttributes", "hipPointerAttribute_t", address)
        except VendorFault as fault:
            if fault.code != _INVALID_VALUE:
                raise
            # It is no error, and no other library of this thread may take it for one.
            self._hip.hipGetLastError()
            return PointerInfo(PointerKind.UNKNOWN, 0, 0)
        kind = self._kinds.get(int(found.type), PointerKind.UNKNOWN)
        if kind is PointerKind.UNKNOWN:
            return PointerInfo(kind, 0, 0)
        return PointerInfo(kind, int(found.device), int(found.devicePointer))

    def copy(self, destination: int, source: int, size: int, stream: int) -> None:
        """Start a copy in a stream."""
        kind = self._hip.hipMemcpyKind.hipMemcpyDefault
        self._call("hipMemcpyAsync", destination, source, size, kind, stream)

    def zero(self, address: int, size: int, stream: int) -> None:
        """Start to fill memory of the device with zeroes."""
        self._call("hipMemsetAsync", address, 0, size, stream)

    # Streams and events

    def stream_create(self) -> int:
        """Return a new stream that does not wait for the default one."""
        return int(self._call("hipStreamCreateWithFlags", self._hip.hipStreamNonBlocking))

    def urgent_stream_create(self) -> int:
        """Return a new stream whose kernels go before those of ordinary ones."""
        _, greatest = self._call("hipDeviceGetStreamPriorityRange")
        flags = self._hip.hipStreamNonBlocking
        return int(self._call("hipStreamCreateWithPriority", flags, greatest))

    def stream_destroy(self, stream: int) -> None:
        """Destroy a stream whose work has ended."""
        self._call("hipStreamDestroy", stream)

    def stream_synchronize(self, stream: int) -> None:
        """Wait for the work of a stream."""
        self._call("hipStreamSynchronize", stream)

    def stream_wait(self, stream: int, event: Handle) -> None:
        """Let the later work of a stream wait for an event."""
        self._call("hipStreamWaitEvent", stream, event, 0)

    def event_create(self, timing: bool = False) -> Handle:
        """Return a new event."""
        flags = 0 if timing else self._hip.hipEventDisableTiming
        return self._call("hipEventCreateWithFlags", flags)

    def event_record(self, event: Handle, stream: int) -> None:
        """Let an event come when the present work of a stream has ended."""
        self._call("hipEventRecord", event, stream)

    def event_query(self, event: Handle) -> bool:
        """Tell whether an event has come; raise where work before it failed."""
        try:
            self._call("hipEventQuery", event)
        except VendorFault as fault:
            if fault.code != NOT_READY:
                raise
            return False
        return True

    def event_seconds(self, start: Handle, end: Handle) -> float:
        """Return the time between two events with timing."""
        return float(self._call("hipEventElapsedTime", start, end)) / _MILLISECONDS

    def event_destroy(self, event: Handle) -> None:
        """Destroy an event."""
        self._call("hipEventDestroy", event)

    # Launches

    def launch(
        self, function: Handle, groups: int, lanes: int, stream: int, argument: ctypes.Structure
    ) -> None:
        """Launch a kernel with one argument, passed by value."""
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        self._call(
            "hipModuleLaunchKernel", function, groups, 1, 1, lanes, 1, 1, 0, stream, arguments, None
        )

    def _call(self, name: str, *arguments: Any) -> Any:
        return call(self._hip, name, *arguments)

    def _found(self, name: str, module: Handle, symbol: bytes) -> Any:
        """Call what looks a symbol up; return None where it is not there."""
        try:
            return self._call(name, module, symbol)
        except VendorFault as fault:
            if fault.code != NOT_FOUND:
                raise
            self._hip.hipGetLastError()
            return None

    def _filled(self, name: str, kind: str, argument: int) -> Any:
        """Call what fills a structure; hip-python before 8 wants to be given one."""
        record = getattr(self._hip, kind)()
        try:
            return self._call(name, argument)
        except TypeError:
            self._call(name, record, argument)
        return record

    def _properties(self, device: int) -> Any:
        return self._filled("hipGetDeviceProperties", "hipDeviceProp_t", device)

    def _device_address(self, host: int) -> int:
        return int(self._call("hipHostGetDevicePointer", host, 0))
