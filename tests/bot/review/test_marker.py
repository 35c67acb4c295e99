"""A mark cannot be planted, copied or lost in a rotation."""

from __future__ import annotations

import pytest

from bot.review.marker import Signer


def test_only_the_same_pull_request_and_kind_hold() -> None:
    mark = Signer((b"one",), "owner/name#1").mark("memory", "ab")
    assert list(Signer((b"one",), "owner/name#1").facts("memory", f"text {mark} text")) == ["ab"]
    assert list(Signer((b"one",), "owner/name#2").facts("memory", mark)) == []
    assert list(Signer((b"two",), "owner/name#1").facts("memory", mark)) == []
    assert list(Signer((b"one",), "owner/name#1").facts("review", mark)) == []
    assert list(Signer((b"one",), "owner/name#1").facts("memory", mark.replace(":ab:", ":ac:"))) == []


def test_a_rotation_accepts_the_older_secret() -> None:
    old = Signer((b"old",), "owner/name#1").mark("memory")
    assert list(Signer((b"new", b"old"), "owner/name#1").facts("memory", old)) == [""]


def test_a_fact_cannot_close_the_comment() -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        Signer((b"one",), "owner/name#1").mark("memory", "--> @team")
