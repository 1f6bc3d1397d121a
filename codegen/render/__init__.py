"""From the spec to text: one Jinja environment, views and templates, no logic in them."""
