"""Whether a delivery comes from GitHub: HMAC SHA-256 over the raw body, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

_PREFIX = "sha256="


def is_genuine(body: bytes, header: str, secrets: Iterable[bytes]) -> bool:
    """Whether ``header`` (X-Hub-Signature-256) signs ``body`` with one of ``secrets``; the older SHA-1 header is not looked at."""
    if not header.startswith(_PREFIX):
        return False
    given = header.removeprefix(_PREFIX).encode("utf-8", "replace")
    genuine = False
    for secret in secrets:
        expected = hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
        genuine |= hmac.compare_digest(expected, given)
    return genuine
