"""Errors of the runtime, and the exit codes they map to in its command line."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    MISSING = 5


class RuntimeFault(Exception):
    """An error with a message for the user; its first line stands alone."""

    exit_code: ExitCode = ExitCode.FAILURE


class MissingFault(RuntimeFault):
    """A compiler, a library or a device that this step needs is not there."""

    exit_code = ExitCode.MISSING


class UnusableFault(RuntimeFault):
    """What reaches a device is there, and its parts do not go with each other."""


class ArgumentFault(RuntimeFault, ValueError):
    """An argument that a call does not take; nothing was submitted."""

    exit_code = ExitCode.USAGE


class DeadQueueFault(RuntimeFault):
    """A queue timed out and takes no commands until it is deleted."""


class LostFault(RuntimeFault):
    """A kernel failed on its device: what it left in flight nobody knows."""
