"""Kinds of options that several subcommands have: texts in; checked values out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

STREAM = "-"


class _OutputPath(click.Path):
    """A file that is written; what is there is looked at before the run, and kept until then."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse the name that stands for a stream."""
        if str(value) == STREAM:
            self.fail("'-' is no file here; give a path, such as ./- or /dev/stdout", param, ctx)
        if str(value) == "":
            self.fail("an empty name is no file", param, ctx)
        return super().convert(value, param, ctx)


class InputPath(click.Path):
    """A file that is read, and that is there."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse the name that stands for a stream."""
        if str(value) == STREAM:
            self.fail("'-' is no file here; give a path, such as ./- or /dev/stdin", param, ctx)
        return super().convert(value, param, ctx)


class Share(click.FloatRange):
    """A part of all: 0 to 1; NaN is none, though no comparison says so."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number from 0 to 1."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range 0<=x<=1.", param, ctx)
        return number


def output_path() -> click.Path:
    """Return the kind of an option that names a file to write."""
    return _OutputPath(path_type=Path, dir_okay=False)


def existing(path: str) -> None:
    """Refuse a file to read that is not there.

    Raises:
        UsageError: it is not there, or is a folder.
    """
    if path != STREAM:
        try:
            InputPath().convert(path, None, None)
        except click.BadParameter as error:
            raise click.UsageError(error.message, click.get_current_context()) from error
