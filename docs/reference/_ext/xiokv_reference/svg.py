"""Pictures as SVG within a page: boxes with a name, which take the page's colours.

The same input gives the same text everywhere: no font is measured, nothing is random.
"""

from __future__ import annotations

from html import escape

_CHARACTER = 6.6  # width of a character of 11 px monospace, generously


def document(title: str, width: int, height: int, parts: list[str]) -> str:
    """Return a picture of one block of lines, as Markdown wants raw HTML."""
    lines = [
        f'<svg class="xiokv-picture" viewBox="0 0 {width} {height}" role="img"'
        f' xmlns="http://www.w3.org/2000/svg" style="width:100%;max-width:{width}px"'
        ' font-family="monospace" font-size="11" fill="currentColor">',
        f"<title>{escape(title)}</title>",
        *parts,
        "</svg>",
    ]
    return "\n".join(lines)


def text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(content)}</text>'


def box(place: tuple[int, int, int, int], content: str, fill: str, tip: str) -> str:
    """Return a box at (x, y, width, height) with a name, which is cut to fit, and a tip."""
    x, y, width, height = place
    return (
        f'<g><title>{escape(tip)}</title><rect x="{x}" y="{y}" width="{width}" height="{height}"'
        f' fill="{fill}" fill-opacity="0.35" stroke="currentColor" stroke-width="0.5"/>'
        f"{text(x + width / 2, y + height / 2 + 4, cut(content, width))}</g>"
    )


def cut(content: str, width: int) -> str:
    """Return as much of a name as fits."""
    room = int((width - 4) / _CHARACTER)
    return content if len(content) <= room else f"{content[: max(room - 1, 0)]}…"
