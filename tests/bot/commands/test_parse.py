"""A command stands alone on a line; anything else is talk."""

from __future__ import annotations

import pytest

from bot.commands import commands
from bot.commands.parse import commands_in


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("/preflight help", (("help",),)),
        ("/preflight", (("help",),)),
        ("Thanks!\r\n/preflight estimate --gpu 'RTX 4090' --batch-size 8\r\n", (("estimate", "--gpu", "RTX 4090", "--batch-size", "8"),)),
        ("  /preflight help  ", (("help",),)),
        ("/preflight estimate --set it's", (("estimate", "--set", "it's"),)),
        ("> /preflight help", ()),
        ("please /preflight help", ()),
        ("    /preflight help", ()),
        ("```\n/preflight help\n```", ()),
        ("~~~~\n```\n/preflight help\n~~~\n/preflight help\n~~~~\n/preflight help", (("help",),)),
        ("```sh\n/preflight help", ()),
        ("<!-- \n/preflight help\n-->", ()),
        ("/preflightx help", ()),
        ("\n".join(["/preflight help"] * 9), (("help",),) * 3),
    ],
)
def test_commands_in(body: str, found: tuple[tuple[str, ...], ...]) -> None:
    assert commands_in(body) == found


def test_every_command_says_its_own_word() -> None:
    for word, command in commands().items():
        assert command.help.startswith(f"`/preflight {word}")
