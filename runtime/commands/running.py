"""Options that several commands have: the device, queue pairs and depth, and the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

QUEUES_MAX = 64

_F = TypeVar("_F", bound=Callable[..., Any])


def target_option(command: _F) -> _F:
    """Add --target."""
    return click.option(
        "--target",
        help="Kind of device to run on; the first that there is by default."
        " $XIOKV_TARGET overrules it.",
    )(command)


def store_option(command: _F) -> _F:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        default="memory",
        show_default=True,
        help="Where the embedded controller keeps values: in its memory, or in a Ceph pool, such as"
        " rados://pool/namespace?conf=/etc/ceph/ceph.conf&user=client.kv.",
    )(command)


def queue_options(depth: int) -> Callable[[_F], _F]:
    """Return what adds --queues, and --depth with its default."""

    def add(command: _F) -> _F:
        for option in (
            click.option(
                "--depth",
                type=click.IntRange(2, 65536),
                default=depth,
                show_default=True,
                help="Entries of each ring.",
            ),
            click.option(
                "--queues",
                type=click.IntRange(1, QUEUES_MAX),
                default=4,
                show_default=True,
                help="Queue pairs.",
            ),
        ):
            command = option(command)
        return command

    return add
