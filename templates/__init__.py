"""Jinja templates, and the hand-written sources that go into the output as they are."""
