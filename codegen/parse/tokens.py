"""A token of preprocessed text, which remembers the place upstream that it came from."""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.errors import Origin, SourceError


@dataclass(frozen=True, slots=True)
class Token:
    """A token, its place in the upstream text and the line it stands in."""

    text: str
    origin: Origin
    line_text: str

    @property
    def is_name(self) -> bool:
        """Whether this is an identifier or a keyword."""
        return self.text[0].isalpha() or self.text[0] == "_"

    def error(self, message: str) -> SourceError:
        """Return an error at this token, with its line and a caret."""
        return SourceError(self.origin, message, self.line_text)
