"""The type of options that take a path: as click's own, but for a path that is empty.

That is a variable of a script which is not set; it would mean the working folder.
"""

from __future__ import annotations

import os
from typing import Any

import click


class GivenPath(click.Path):
    """A path of one character at least."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the path as click does; refuse an empty one."""
        if not os.fspath(value):
            self.fail("it is empty; give a path, which is . for the working folder", param, ctx)
        return super().convert(value, param, ctx)
