"""Log records that say which delivery, pull request and step they are about: one line of ``name=value`` pairs each, without secrets."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from bot.job import Json
from bot.redact import redacted

#: What a job's facts are called in a record.
_NAMES = {"delivery": "delivery", "full_name": "repository", "number": "pull_request", "head": "head"}
_PLAIN = re.compile(r"[\w./:@+-]+")

_about: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039  # never written to, only replaced


@contextmanager
def about(facts: Json, **more: str) -> Iterator[None]:
    """Everything that is logged inside, tasks begun there included, names what ``facts`` and ``more`` are about."""
    token = _about.set({**_about.get(), **{_NAMES[name]: str(facts[name]) for name in _NAMES if name in facts}, **more})
    try:
        yield
    finally:
        _about.reset(token)


class LineFormatter(logging.Formatter):
    """A record, its traceback included, as one line of ``name=value`` pairs; values with other characters than names have are JSON strings."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line without secrets: nothing is logged on another way."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        pairs = {"time": f"{moment}.{int(record.msecs):03}Z", "level": record.levelname.lower(), "logger": record.name, **_about.get()}
        pairs["message"] = record.getMessage()
        if record.exc_info:
            pairs["error"] = self.formatException(record.exc_info)
        return " ".join(f"{name}={_quoted(redacted(value))}" for name, value in pairs.items())


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def configure_logging(level: str) -> None:
    """Log to standard error at ``level``; the job engine's own chatter only from WARNING on."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("dbos").setLevel(max(logging.WARNING, logging.getLevelName(level)))
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
