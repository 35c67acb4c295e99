"""What a program does, written down once: a tree of loops, branches and calls whose leaves are events; and what rules ask of it."""

from analysis.trace.trace import Trace

__all__ = ["Trace"]
