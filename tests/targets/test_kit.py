"""The faults of the test kit, whatever module is attached."""

from __future__ import annotations

import numpy as np

from tests.targets.device import Target, content, keys_of, random_values
from xiokv.runtime import Outcome
from xiokv.runtime.testing.rig import make_rig

COUNT, SIZE = 8, 64


def test_values_are_changed_and_commands_are_struck(target: Target) -> None:
    keys, values = keys_of(COUNT), random_values(COUNT, SIZE)
    out = target.memory(np.zeros_like(values))
    options = {"block_size": SIZE, "timeout": 2.0, "controller": {"value_max": 1 << 16}}
    with make_rig(target.module, **options) as rig:
        rig.kv.store(keys, target.memory(values)).raise_for_status()
        rig.faults.truncate(keys[:1], 10)
        rig.faults.lengthen(keys[1:2], 4)
        rig.faults.flip(keys[2:3])
        rig.faults.miss(keys[3:4])
        rig.faults.drop(keys[4:5])
        result = rig.kv.retrieve(keys, out)
        fine = [Outcome.OK] * 3
        assert result.status.tolist() == [
            *(Outcome.OK, Outcome.TRUNCATED, Outcome.OK, Outcome.MISSING, Outcome.TIMEOUT),
            *fine,
        ]
        assert result.value_size[:3].tolist() == [10, SIZE + 4, SIZE]
        rig.faults.recover()
        rig.kv.retrieve(keys[2:], target.memory(np.zeros((6, SIZE), np.uint8))).raise_for_status()
        wrong = np.unpackbits(content(out, values)[2] ^ values[2])
        assert wrong.sum() == 1
