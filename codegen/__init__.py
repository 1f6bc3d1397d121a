"""From an upstream NVMe-KV header at a pin to generated text and a compiled module."""
