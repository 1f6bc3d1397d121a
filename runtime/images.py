"""The files of a module, one an architecture, and which of them a device can run.

In: a module's description, and the architecture that a device's driver states. Out: the
image to load, or a refusal that names both. Nothing is loaded here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xiokv.runtime.errors import RuntimeFault

if TYPE_CHECKING:
    from xiokv.runtime.description import Description

_CUDA = re.compile(r"(sm|compute)_([0-9]+)([0-9])([af]?)")

Rank = tuple[int, ...] | None
"""How well an image fits a device, larger is better; None where it cannot run there."""


@dataclass(frozen=True, slots=True)
class Image:
    """A file of a module.

    Attributes:
        file: its path.
        sha256: hash that it must have.
        arch: architecture that it is for.
        wave: lanes of a wave or warp; 1 on a host.
        kernels: for each entry what it needs of the device, as ``module.json`` has it;
            empty where that is not known before it is loaded.
    """

    file: Path
    sha256: str
    arch: str
    wave: int
    kernels: Mapping[str, Mapping[str, Any]]


def choose_image(description: Description, device_arch: str) -> Image:
    """Return the image that fits a device best.

    Args:
        description: what the module holds.
        device_arch: what the driver states, such as ``gfx942:sramecc+:xnack-`` or ``sm_90``.

    Raises:
        RuntimeFault: none fits.
    """
    rank = _RANKS.get(description.target, _rank_host)
    ranks = [(rank(image.arch, device_arch), image) for image in description.images]
    fitting = [(found, image) for found, image in ranks if found is not None]
    if not fitting:
        asked = "" if description.target == "host" else f" --arch {device_arch.split(':')[0]}"
        raise RuntimeFault(
            f"{description.library} was built for {description.arch}, and this device is"
            f" {device_arch}; run xiokv-gen build --target {description.target}{asked}"
        )
    return max(fitting, key=lambda pair: pair[0])[1]


def _rank_host(image: str, device: str) -> Rank:
    return () if image == device else None


def _rank_hip(image: str, device: str) -> Rank:
    """A code object fits every setting of a feature that its target id leaves out."""
    name, *wanted = image.split(":")
    own, *has = device.split(":")
    return (len(wanted),) if name == own and set(wanted) <= set(has) else None


def _rank_cuda(image: str, device: str) -> Rank:
    """A cubin fits later minors of its major; PTX, which comes second, all that is later.

    With the suffix a, either fits its own architecture alone; with f, its own major.
    """
    built, running = _CUDA.fullmatch(image), _CUDA.fullmatch(device)
    if not built or not running:
        return None
    is_cubin, suffix = built[1] == "sm", built[4]
    version, own = (int(built[2]), int(built[3])), (int(running[2]), int(running[3]))
    one_major = is_cubin or suffix == "f"
    fits = version <= own and (not one_major or version[0] == own[0])
    if not fits or (suffix == "a" and version != own):
        return None
    return (is_cubin, *version, len(suffix))


_RANKS: Mapping[str, Callable[[str, str], Rank]] = {"hip": _rank_hip, "cuda": _rank_cuda}
