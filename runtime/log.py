"""The logger of the runtime; a program that configures none sees warnings alone."""

from __future__ import annotations

import logging

log = logging.getLogger("xiokv")
