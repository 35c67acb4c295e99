"""The RSA key pair of the App, made once for a process because making one takes a while."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_KEY_BITS = 2048
_PUBLIC_EXPONENT = 65537


@cache
def key_pair() -> tuple[str, str]:
    """Private and public key as PEM text."""
    key = rsa.generate_private_key(_PUBLIC_EXPONENT, _KEY_BITS)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()
