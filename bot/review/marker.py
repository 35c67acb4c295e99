"""Hidden marks in what we post, by which it is found again. A mark is signed, so nobody can plant one."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_MARK = re.compile(r"<!-- preflight:([a-z]+):([0-9a-f]*):([0-9a-f]{32}) -->")


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs marks for one pull request, ``scope`` ("owner/name#12"): a mark copied from another one does not hold.

    The first of ``secrets`` signs; all of them are accepted, so that a rotation loses nothing.
    """

    secrets: tuple[bytes, ...] = field(repr=False)
    scope: str

    def mark(self, kind: str, fact: str = "") -> str:
        """An HTML comment that names ``kind`` and carries ``fact``, lower-case hexadecimal."""
        written = f"<!-- preflight:{kind}:{fact}:{self._signature(self.secrets[0], kind, fact)} -->"
        if not _MARK.fullmatch(written):
            raise ValueError(f"a mark carries hexadecimal digits, not {fact!r}")
        return written

    def facts(self, kind: str, body: str) -> Iterator[str]:
        """The facts of every genuine mark of ``kind`` in ``body``."""
        for match in _MARK.finditer(body):
            found, fact, signature = match.groups()
            if found == kind and self._genuine(kind, fact, signature):
                yield fact

    def _genuine(self, kind: str, fact: str, signature: str) -> bool:
        return any(hmac.compare_digest(self._signature(secret, kind, fact), signature) for secret in self.secrets)

    def _signature(self, secret: bytes, kind: str, fact: str) -> str:
        message = f"preflight-mark\n{self.scope}\n{kind}\n{fact}".encode()
        return hmac.new(secret, message, hashlib.sha256).hexdigest()[:32]


def digest(text: str) -> str:
    """``text`` (a fingerprint) as a fact that a mark can carry."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
