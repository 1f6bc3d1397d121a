"""The program `rados`, as a user calls it on the place of a store."""

from __future__ import annotations

import shlex

from xiokv.runtime.rados.url import RadosUrl

PROGRAM = "rados"


def words(place: RadosUrl) -> list[str]:
    """Return the program with the options that lead to a place; a command of it follows."""
    given = {
        "--conf": place.conf,
        "--keyring": place.keyring,
        "--cluster": place.cluster if place.cluster != "ceph" else "",
        "--namespace": place.name_space,
    }
    options = [word for name, value in given.items() if value for word in (name, value)]
    return [PROGRAM, "--name", place.entity, "--pool", place.pool, *options]


def removal(place: RadosUrl, *beginnings: str) -> str:
    """Return a line for the shell that removes objects.

    Args:
        place: whose.
        beginnings: of their names; without any, all that the namespace has.
    """
    program = shlex.join(words(place))
    some = "".join(f" -e {shlex.quote(f'^{beginning}')}" for beginning in beginnings)
    filtered = f" grep{some} |" if some else ""
    return f"{program} ls |{filtered} xargs -r -d '\\n' {program} rm"
