"""Secrets are taken out of texts: tokens in either format, keys, and what addresses hold."""

from __future__ import annotations

import pytest

from bot.redact import redacted

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln-bmF0_dXJl"


@pytest.mark.parametrize(
    "secret",
    [
        "ghs_" + "a" * 36,
        f"ghs_123456_{JWT}",
        "github_pat_" + "A1_" * 10,
        JWT,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIabc",
    ],
)
def test_secrets_are_replaced(secret: str) -> None:
    assert redacted(f"before {secret} after".strip()).startswith("before [redacted]")
    assert not any(part in redacted(f"x {secret}") for part in secret.split("\n")[-1:] if len(part) > 10)


def test_addresses_lose_their_password() -> None:
    assert redacted("https://x-access-token:ghs_abc@github.com/o/r") == "https://[redacted]@github.com/o/r"
    assert redacted("postgresql://me:hidden@host/db") == "postgresql://[redacted]@host/db"


def test_ordinary_text_stays() -> None:
    assert redacted("train.py:12 keeps the graph of every step") == "train.py:12 keeps the graph of every step"
