"""Secrets taken out of log records: tokens of both formats, JWTs, private keys, URLs that hold a token."""

from __future__ import annotations

import re

_SECRETS = re.compile(
    r"""
    \bgh[a-z]_[A-Za-z0-9._-]{20,}                                   # installation tokens: the longer format holds dots and hyphens
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*    # a JWT
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | (?<=x-access-token:)[^@\s]+
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                               # name and password of a database
    """,
    re.VERBOSE | re.DOTALL,
)


def redacted(text: str) -> str:
    """``text`` with every secret replaced."""
    return _SECRETS.sub("[redacted]", text)
