"""Connectors of inference servers: their calls in, blocks of a namespace moved.

Each module works without the server that it is for; what has to be a class of the server's is
made when it is first asked for. Once a connector is made, no method of it raises into the
server's thread: what failed is reported as the server's base class says, and logged once.
"""
