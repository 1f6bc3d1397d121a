"""An NVMe key-value controller in software, so that everything runs without a device."""

from xiokv.runtime.emulator.admin_queue import StatusFault as StatusFault
from xiokv.runtime.emulator.device import Emulator as Emulator
from xiokv.runtime.emulator.exec_operations import ExecOperation as ExecOperation
from xiokv.runtime.emulator.faults import FaultKind as FaultKind
from xiokv.runtime.emulator.library import DmaHook as DmaHook
from xiokv.runtime.emulator.options import Options as Options
from xiokv.runtime.emulator.records import Counters as Counters
from xiokv.runtime.emulator.records import TraceRecord as TraceRecord
