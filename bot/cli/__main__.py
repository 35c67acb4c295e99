"""``python -m bot.cli``: the command line where its script is not on PATH."""

from bot.cli.main import process

process()
