"""The way from an upstream header to results, as a picture of its stages."""

from __future__ import annotations

from dataclasses import dataclass

from xiokv_reference import svg

_WIDTH, _BOX, _LEFT, _ROW, _GAP = 480, 250, 2, 30, 30


@dataclass(frozen=True, slots=True)
class Stage:
    """What there is, and the step that makes it of what comes before; the first has none."""

    name: str
    step: str = ""


STAGES = (
    Stage("upstream header at a commit"),
    Stage("facts: spec/nvme_kv.json", "xiokv-gen fetch: parse, lay out, prove"),
    Stage("spec", "merge with commands and profile, validate"),
    Stage("text: headers, kernels, twin", "xiokv-gen build: templates"),
    Stage("module: code and module.json", "xiokv-gen build --target: compile"),
    Stage("queues of a controller", "runtime.load().attach(controller)"),
    Stage("launch: one batch on all queues", "store, retrieve, exist, delete, list"),
    Stage("one result a key", "wait, classify"),
)


def picture() -> str:
    """Return the picture: a box a stage, from top to bottom, the steps between them."""
    parts = []
    for number, stage in enumerate(STAGES):
        y = 2 + number * (_ROW + _GAP)
        if stage.step:
            parts += _arrow(y, stage.step)
        parts.append(svg.box((_LEFT, y, _BOX, _ROW), stage.name, "#4c72b0", stage.name))
    height = len(STAGES) * (_ROW + _GAP) - _GAP + 4
    return svg.document("From an upstream header to results", _WIDTH, height, parts)


def _arrow(y: int, step: str) -> list[str]:
    """Return an arrow down to `y`, with what is done there."""
    x = _LEFT + _BOX // 2
    line = f'<line x1="{x}" y1="{y - _GAP}" x2="{x}" y2="{y}" stroke="currentColor"/>'
    tip = f'<path d="M{x - 4} {y - 8} L{x + 4} {y - 8} L{x} {y} Z"/>'
    return [line, tip, svg.text(x + 12, y - _GAP / 2 + 4, step, "start")]
