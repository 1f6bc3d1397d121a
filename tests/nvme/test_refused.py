"""What is no key-value namespace, or is in use, is refused before anything is sent."""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
from pathlib import Path

import pytest

from tests.runtime.forking import in_child
from xiokv.runtime import ArgumentFault, MissingFault, Passthrough, RuntimeFault, passthrough
from xiokv.runtime.controller import Rings
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.nvme import opened

from .conftest import DEVICE, Standin


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(MissingFault, match=r"/dev/ng99n1: No such file.*/dev/ng<controller>"):
        passthrough("/dev/ng99n1")


def test_a_device_that_went_away() -> None:
    """So it is with /dev/tty where there is no terminal: a file, and nothing behind it."""
    said = in_child(lambda: (os.setsid(), opened.open_namespace("/dev/tty")))
    assert said.startswith("MissingFault: /dev/tty cannot be opened: No such device")


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
            opened.open_namespace(str(guarded))
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
    other = opened.IOCTL(lambda fd, request, argument: answer)
    with pytest.raises(ArgumentFault, match=f"no NVMe namespace .its NSID is {answer}.; one is"):
        passthrough(DEVICE, ioctl=other)


@pytest.mark.parametrize("line", ["/dev/nvme0n1 / ext4 rw 0 0", "/dev/nvme0n1p2\tpartition 8"])
def test_a_namespace_that_is_in_use(tmp_path: Path, line: str) -> None:
    (tmp_path / "mounts").write_text(f"/dev/nvme0n10 /data ext4 rw 0 0\n{line}\n")
    device = tmp_path / "ng0n1"
    device.symlink_to("/dev/null")
    with pytest.raises(ArgumentFault, match=r"is in use: .*mounts names /dev/nvme0n1"):
        opened._check_unused(str(device), str(device), (tmp_path / "mounts",))


def test_a_namespace_that_is_in_use_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text("/dev/nvme0n1 / ext4 rw 0 0\n")
    device, alias = tmp_path / "ng0n1", tmp_path / "my-values"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, Path(DEVICE).stat().st_rdev)
    except PermissionError:
        pytest.skip("only root makes devices")
    alias.symlink_to(device)
    with pytest.raises(ArgumentFault, match=r"my-values is in use"):
        opened.open_namespace(str(alias), (tmp_path / "mounts",))


def test_what_may_be_passed_through_is_read_and_written() -> None:
    fd = opened.open_namespace(DEVICE)
    try:
        assert fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
        assert not os.get_inheritable(fd)
    finally:
        os.close(fd)


def test_a_namespace_that_is_not_in_use(tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text("/dev/nvme0n10 / ext4 rw 0 0\n/dev/nvme10n1 /a ext4 rw 0 0\n")
    opened._check_unused("/dev/ng0n1", "/dev/ng0n1", (tmp_path / "mounts", tmp_path / "none"))


def test_a_namespace_that_holds_blocks(standin: Standin) -> None:
    """The identifiers of a namespace end at once where there are none."""

    @opened.IOCTL
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
