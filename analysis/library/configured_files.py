"""Settings of files, as a trace sees them: whoever runs the program may turn a switch, and chooses another window.

Names and numbers are what stands in the file. What is true or false there, or absent, is a flag as an option of the command line is; keys
that begin with an underscore say how the file is to be read, and stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.library.configured_windows import given
from analysis.library.ranks import own_rank

if TYPE_CHECKING:
    from analysis.interpreter.values import Value
    from analysis.library.domain import TraceDomain
    from analysis.source import Span


def configured(domain: TraceDomain, key: Value, value: Value, span: Span) -> Value:
    """What the setting ``key``, written at ``span``, is taken for in this world."""
    if not isinstance(key, str) or key.startswith("_"):
        return value
    if value is None or isinstance(value, bool):
        return domain.casting.symbol(f"the setting {key}", span, ())
    if key == "local_rank" and domain.is_distributed():
        return own_rank(domain.machine)  # its launcher sets it
    return given(domain, key, value)
