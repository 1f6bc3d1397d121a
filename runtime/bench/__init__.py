"""Measure the engine beside baselines of the same run: rates, launches, values, growth."""
