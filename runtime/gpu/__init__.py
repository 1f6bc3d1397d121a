"""Kernels that run beside the engine's: the copier and the relay, and their CPU sides."""
