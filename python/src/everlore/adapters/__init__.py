"""Adapters for frameworks of agents, a module each. A module imports its framework, so import only those you use.

Each takes a ``Memory`` or a ``Client``; async methods run its calls on a thread.
"""
