"""The tables: each a module that measures its rows."""
