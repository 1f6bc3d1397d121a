"""Drivers: how a compiled module's kernels run on one kind of device, one module each."""
