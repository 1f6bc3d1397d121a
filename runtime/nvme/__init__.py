"""A key-value namespace of a real device, by the Linux NVMe driver's passthrough."""

from xiokv.runtime.nvme.device import Passthrough as Passthrough
from xiokv.runtime.nvme.device import passthrough as passthrough
