"""Retrieve stamped values for a long time from a controller that errs; check all that comes.

A controller reorders completions, repeats old ones, sends some of unknown commands and of
other queues, and fails commands. Every outcome, every length and every byte of every batch is
compared with what has to be there, also the bytes past each value, and at the end what the
queues reported with what the controller did. Lengths differ from key to key, so that a
completion read in two halves has a wrong one.

Out: a line of progress a second on stderr; on stdout what was wrong or a summary, and a JSON
object with all figures in its last line. Exit status 0 where all was right.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from batch import Wrong
from soak import Soak

from xiokv.runtime import Emulator, RuntimeFault, load
from xiokv.runtime.bench.cores import own_cores

KEYS_MOST = 400_000  # stored, and retrieved by each batch


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--target", default="host", help="kind of device (host)")
    parser.add_argument("--commands", type=int, default=100_000_000, help="at least (10^8)")
    parser.add_argument("--queues", type=int, default=8, help="queue pairs (8)")
    parser.add_argument("--depth", type=int, default=1024, help="entries of each ring (1024)")
    parser.add_argument("--threads", type=int, help="of the controller; as the cores allow")
    parser.add_argument("--seed", type=int, default=1, help="of values, faults and order (1)")
    options = parser.parse_args()
    if min(options.commands, options.queues) < 1 or options.seed < 0:
        parser.error("commands and queues are 1 or more, the seed is not negative")
    return options


def _controller(options: argparse.Namespace) -> Emulator:
    """Return a controller with a thread a queue, each on its core, if there are enough cores.

    Queues of the host's module are threads, too, and rest where they like.
    """
    cores, on_host = own_cores(), options.target == "host"
    threads = options.threads or min(options.queues, cores.most(2 if on_host else 1))
    cpus = () if on_host else cores.shares(threads, 1)[0]
    return Emulator(threads=threads, cpus=cpus, queues=options.queues, seed=options.seed)


def _soak(options: argparse.Namespace) -> int:
    with _controller(options) as controller:
        soak = Soak(
            load(options.target),
            controller,
            queues=options.queues,
            depth=options.depth,
            keys=min(KEYS_MOST, options.commands),
            seed=options.seed,
        )
        try:
            soak.run(options.commands)
            print(soak.summary())
            right = True
        except Wrong as fault:
            print(f"WRONG: {fault}")
            right = False
        finally:
            soak.close()
        tally = asdict(soak.tally)
        tally["commands_a_second"] = round(tally["commands"] / (tally["seconds"] or 1))
        asked = {f"asked_{name}": value for name, value in vars(options).items()}
        print(json.dumps({"right": right, **asked, **tally}))
    return 0 if right else 1


def main() -> int:
    """Soak; return the exit status."""
    options = _options()
    try:
        return _soak(options)
    except RuntimeFault as fault:
        print(f"soak: {fault}", file=sys.stderr)
        return fault.exit_code


if __name__ == "__main__":
    sys.exit(main())
