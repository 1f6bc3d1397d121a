"""Upstream text to facts: preprocess, declare, lay out, extract."""
