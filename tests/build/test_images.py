"""choose_image: which of a module's files a device is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xiokv.runtime.description import Description
from xiokv.runtime.errors import ExitCode, RuntimeFault
from xiokv.runtime.images import Image, choose_image

MI300 = "gfx942:sramecc+:xnack-"


def module(target: str, *architectures: str) -> Description:
    """Return the description of a module with images for these architectures."""
    return Description(
        folder=Path("modules"),
        images=tuple(Image(Path("modules", a), "", a, 64, {}) for a in architectures),
        target=target,
        arch=", ".join(architectures),
        compiler="",
        generator="",
        facts="",
        spec="",
        kernels={},
        profile="",
        fields=(),
    )


@pytest.mark.parametrize(
    ("target", "built", "device", "chosen"),
    [
        ("hip", "gfx90a gfx942", MI300, "gfx942"),
        ("hip", "gfx942:xnack+ gfx942:xnack-", MI300, "gfx942:xnack-"),
        ("hip", "gfx942 gfx942:xnack- gfx942:xnack+", MI300, "gfx942:xnack-"),
        ("hip", "gfx942:sramecc+:xnack- gfx942:xnack-", MI300, "gfx942:sramecc+:xnack-"),
        ("hip", "gfx942:xnack+", MI300, None),
        ("hip", "gfx942:sramecc-", MI300, None),
        ("hip", "gfx942:xnack-", "gfx942", None),
        ("hip", "gfx1100", "gfx1100", "gfx1100"),
        ("hip", "gfx1100", "gfx1101", None),
        ("hip", "gfx90a", "gfx90", None),
        ("cuda", "sm_80 sm_90 compute_80", "sm_90", "sm_90"),
        ("cuda", "sm_80 sm_90 compute_80", "sm_80", "sm_80"),
        ("cuda", "sm_80 sm_86 compute_80", "sm_89", "sm_86"),
        ("cuda", "sm_86 compute_80", "sm_80", "compute_80"),
        ("cuda", "sm_80 sm_90 compute_80", "sm_100", "compute_80"),
        ("cuda", "sm_80 compute_70 compute_80 compute_90", "sm_121", "compute_90"),
        ("cuda", "sm_80 sm_90 compute_80", "sm_75", None),
        ("cuda", "sm_80", "sm_90", None),
        ("cuda", "sm_90a sm_90", "sm_90", "sm_90a"),
        ("cuda", "sm_100a", "sm_103", None),
        ("cuda", "sm_100f", "sm_103", "sm_100f"),
        ("cuda", "compute_90a", "sm_90", "compute_90a"),
        ("cuda", "compute_90a", "sm_100", None),
        ("cuda", "compute_100f", "sm_103", "compute_100f"),
        ("cuda", "compute_100f", "sm_120", None),
        ("cuda", "sm_90", "gfx942", None),
        ("host", "x86_64", "x86_64", "x86_64"),
        ("host", "x86_64", "aarch64", None),
    ],
)
def test_an_image_is_chosen(target: str, built: str, device: str, chosen: str | None) -> None:
    description = module(target, *built.split())
    if chosen:
        assert choose_image(description, device).arch == chosen
    else:
        with pytest.raises(RuntimeFault, match=re.escape(f"and this device is {device};")):
            choose_image(description, device)


@pytest.mark.parametrize(
    ("description", "device", "said"),
    [
        (
            module("hip", "gfx90a", "gfx942:xnack+"),
            MI300,
            "modules was built for gfx90a, gfx942:xnack+, and this device is"
            " gfx942:sramecc+:xnack-; run xiokv-gen build --target hip --arch gfx942",
        ),
        (
            module("host", "x86_64"),
            "aarch64",
            "modules/x86_64 was built for x86_64, and this device is aarch64; run xiokv-gen"
            " build --target host",
        ),
    ],
    ids=["hip", "host"],
)
def test_a_device_without_an_image_is_told_both_and_how_to_get_one(
    description: Description, device: str, said: str
) -> None:
    with pytest.raises(RuntimeFault) as caught:
        choose_image(description, device)
    assert caught.value.exit_code is ExitCode.FAILURE
    assert str(caught.value) == said
