"""Secrets taken out of log records: tokens of both formats, JWTs, private keys, URLs that hold a token."""

from __future__ import annotations

import logging
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


class RedactingFormatter(logging.Formatter):
    """Formats a record, its traceback included, and then removes secrets: nothing is logged on another way."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one text without secrets."""
        return redacted(super().format(record))


def configure_logging(level: str) -> None:
    """Log to standard error at ``level``; the job engine's own chatter only from WARNING on."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("dbos").setLevel(max(logging.WARNING, logging.getLevelName(level)))
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
