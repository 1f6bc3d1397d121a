"""What is no key-value namespace, or is in use, is refused before anything is sent."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
from pathlib import Path

import pytest

from tests.runtime.forking import in_child
from xiokv.runtime import ArgumentFault, MissingFault, Passthrough, RuntimeFault, passthrough
from xiokv.runtime.controller import Rings
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.drivers.host_library import said
from xiokv.runtime.nvme import library

from .conftest import DEVICE, Standin


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(MissingFault, match=r"/dev/ng99n1: No such file.*/dev/ng<controller>"):
        passthrough("/dev/ng99n1")


def test_a_device_that_went_away() -> None:
    """So it is with /dev/tty where there is no terminal: a file, and nothing behind it."""
    told = in_child(lambda: (os.setsid(), passthrough("/dev/tty")))
    assert told.startswith("MissingFault: /dev/tty cannot be opened: No such device")


def test_a_device_that_only_others_may_open() -> None:
    guarded = next(
        path
        for path in Path("/dev").iterdir()
        if path.is_char_device() and path.lstat().st_uid == 0 and path.stat().st_mode & 0o77 == 0
    )
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(65534)
        with pytest.raises(RuntimeFault, match=r"may not be opened: .* takes root, or CAP_SYS_ADM"):
            passthrough(str(guarded))
    finally:
        if user == 0:
            os.seteuid(0)


def test_a_file_that_is_no_device(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArgumentFault, match=r"no character device$"):
        passthrough(tmp_path / "file")


@pytest.mark.parametrize("path", ["", "/dev/null\0", 3, None])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(ArgumentFault, match=r"path is .*; allowed is that of a device"):
        passthrough(path)  # type: ignore[arg-type]


def test_a_block_device_leads_to_its_character_device(tmp_path: Path) -> None:
    (tmp_path / "nvme3n2p1").touch()
    with pytest.raises(ArgumentFault, match="its character device is /dev/ng3n2"):
        passthrough(tmp_path / "nvme3n2p1")


def test_a_device_that_is_no_namespace() -> None:
    with pytest.raises(ArgumentFault, match=r"/dev/null is no NVMe namespace \(Inapp.+\); one is"):
        passthrough(DEVICE)


@pytest.mark.parametrize("answer", [0, -1])
def test_a_device_of_another_kind_that_answers(answer: int) -> None:
    other = library.IOCTL(lambda fd, request, argument: answer)
    with pytest.raises(ArgumentFault, match=f"no NVMe namespace .its NSID is {answer}.; one is"):
        passthrough(DEVICE, ioctl=other)


def opened(path: Path, mounts: Path) -> str:
    """Open a device where `mounts` says what is in use; return why that is refused."""
    handle = ctypes.c_void_p()
    config = library.Config(ctypes.sizeof(library.Config), mounts=bytes(mounts))
    functions = library.load()
    assert functions.xiokv_device_open(bytes(path), config, ctypes.byref(handle)) < 0
    return said()


IN_USE = ["/dev/nvme0n1 / ext4 rw 0 0", "/dev/nvme0n1p2\tpartition 8"]
NOT_IN_USE = ["/dev/nvme0n10 / ext4 rw 0 0", "/dev/nvme10n1 /a ext4 rw", "/x/nvme0n1x / ext4"]


@pytest.mark.parametrize("line", IN_USE)
def test_a_namespace_that_is_in_use(tmp_path: Path, line: str) -> None:
    (tmp_path / "mounts").write_text(f"/dev/nvme0n10 /data ext4 rw 0 0\n{line}\n")
    (tmp_path / "ng0n1").touch()
    why = opened(tmp_path / "ng0n1", tmp_path / "mounts")
    assert re.search(r"ng0n1 is in use: .*mounts names /dev/nvme0n1", why)


def test_a_namespace_that_is_in_use_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text("/dev/nvme0n1 / ext4 rw 0 0\n")
    device, alias = tmp_path / "ng0n1", tmp_path / "my-values"
    device.touch()
    alias.symlink_to(device)
    assert "my-values is in use" in opened(alias, tmp_path / "mounts")


@pytest.mark.parametrize("line", NOT_IN_USE)
def test_a_namespace_that_is_not_in_use(tmp_path: Path, line: str) -> None:
    (tmp_path / "mounts").write_text(f"{line}\n")
    (tmp_path / "ng0n1").touch()
    for mounts in (tmp_path / "mounts", tmp_path / "none"):
        assert opened(tmp_path / "ng0n1", mounts).endswith("ng0n1 is no character device")


def files_of_device() -> list[int]:
    """Return the open files of the device that may be written to."""
    fds = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
    return [fd for fd in fds if _is_device(fd) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_RDWR]


def _is_device(fd: int) -> bool:
    try:
        return str(Path(f"/proc/self/fd/{fd}").readlink()) == DEVICE
    except OSError:  # that of the list itself
        return False


def test_a_device_is_written_to_by_this_process_alone_until_it_is_closed(standin: Standin) -> None:
    before = files_of_device()
    with passthrough(DEVICE, ioctl=standin.ioctl):
        (fd,) = set(files_of_device()) - set(before)
        assert not os.get_inheritable(fd)
    assert files_of_device() == before


def test_a_namespace_that_holds_blocks(standin: Standin) -> None:
    """The identifiers of a namespace end at once where there are none."""

    @library.IOCTL
    def blocks(fd: int, request: int, argument: int) -> int:
        answer = int(standin.ioctl(fd, ctypes.c_ulong(request), ctypes.c_void_p(argument)))
        if request == 0xC0504E47 and answer == 0:  # the data of Identify, where CNS is 03h
            address = ctypes.c_uint64.from_address(argument + 24).value
            if ctypes.c_uint32.from_address(argument + 40).value == 3:
                ctypes.memset(address, 0, 4096)
        return answer

    with pytest.raises(ArgumentFault, match="namespace 7 is not key-value"):
        passthrough(DEVICE, ioctl=blocks)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("threads", 0),
        ("threads", 1025),
        ("queues", 0),
        ("queues", "2"),
        ("command_timeout", 0),
        ("command_timeout", 4294968),
    ],
)
def test_an_option_that_is_not_allowed(option: str, value: object) -> None:
    with pytest.raises(ArgumentFault, match=option):
        passthrough(DEVICE, **{option: value})


def test_a_namespace_of_another_number(device: Passthrough) -> None:
    assert device.limits(7) == device.limits(1)
    with pytest.raises(ArgumentFault, match="is namespace 7; 1 stands for it"):
        device.limits(2)


def test_a_module_that_does_not_run_on_the_host(device: Passthrough) -> None:
    class Elsewhere:
        name = "cuda"

    driver: Driver = Elsewhere()  # type: ignore[assignment]
    with pytest.raises(ArgumentFault, match=r"a module for cuda cannot make"):
        device.connect(driver)


def test_what_is_closed(standin: Standin) -> None:
    device = passthrough(DEVICE, ioctl=standin.ioctl)
    device.close()
    device.close()
    for call in (device.counters, lambda: device.create_queue(Rings(0x1000, 0x2000, 2, 2))):
        with pytest.raises(RuntimeFault, match="/dev/null is closed"):
            call()


@pytest.mark.parametrize("opcode", [0x00, 0x02, 0x0A, 0x80])
def test_an_admin_command_of_unknown_data(device: Passthrough, opcode: int) -> None:
    """A queue of the system's, a log page, a feature, Format NVM."""
    with pytest.raises(ArgumentFault, match=f"opcode {opcode:02X}h: only Identify"):
        device.admin(bytes([opcode]).ljust(64, b"\0"))


def test_an_admin_entry_of_another_size(device: Passthrough) -> None:
    with pytest.raises(ArgumentFault, match="an SQE has 64 bytes, this has 63"):
        device.admin(bytes(63))
