"""What goes wrong outside the code: a file that is missing or malformed, a repository that is not there."""

from __future__ import annotations


class CorpusError(Exception):
    """The message names the file and what to do."""
