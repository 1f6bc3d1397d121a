"""The finished model that templates render: facts merged with semantics and a profile."""
