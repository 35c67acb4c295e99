"""GitHub's own test vector, and what is not a signature."""

from __future__ import annotations

import pytest

from bot.signature import is_genuine

SECRET = b"It's a Secret to Everybody"
BODY = b"Hello, World!"
SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_githubs_vector() -> None:
    assert is_genuine(BODY, SIGNATURE, [SECRET])
    assert is_genuine(BODY, SIGNATURE, [b"newer", SECRET])


@pytest.mark.parametrize("header", ["", SIGNATURE.removeprefix("sha256="), SIGNATURE.upper(), SIGNATURE[:-1], SIGNATURE + "0", "sha256=ü", "sha1=abc"])
def test_anything_else_is_refused(header: str) -> None:
    assert not is_genuine(BODY, header, [SECRET])


def test_another_body_or_no_secret_is_refused() -> None:
    assert not is_genuine(BODY + b" ", SIGNATURE, [SECRET])
    assert not is_genuine(BODY, SIGNATURE, [])


def test_every_secret_is_compared_in_constant_time_whichever_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(expected: bytes, given: bytes) -> bool:
        compared.append((expected, given))
        return expected == given

    monkeypatch.setattr("bot.signature.hmac.compare_digest", compare)
    assert is_genuine(BODY, SIGNATURE, [SECRET, b"older", b"oldest"])
    assert [given for _, given in compared] == [SIGNATURE.removeprefix("sha256=").encode()] * 3
