"""Entries of NVMe queues, as hexadecimal text, taken apart by a project's spec."""
