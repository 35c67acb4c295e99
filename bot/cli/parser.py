"""An argument parser whose errors are one sentence with the nearest known option."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from analysis.nearest import did_you_mean
from bot.cli.outcome import UsageError

_UNRECOGNISED = re.compile(r"unrecognized arguments: (?P<option>--?[^\s=]+)")
_CHOICE = re.compile(r"argument (?P<option>\S+): invalid choice: '(?P<value>[^']*)' \(choose from (?P<known>.*)\)")


class Parser(argparse.ArgumentParser):
    """Arguments of one command. ``docstring`` is the help of its module: the first line is the summary."""

    def __init__(self, command: str, docstring: str | None) -> None:
        super().__init__(
            prog=f"preflight {command}",
            description=docstring,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Raise UsageError; argparse would print the whole usage above the one line that matters."""
        if matched := _UNRECOGNISED.search(message):
            options = [option for action in self._actions for option in action.option_strings]
            raise UsageError(f"unknown option {matched['option']}{did_you_mean(matched['option'], options)}")
        if matched := _CHOICE.search(message):
            known = re.findall(r"[\w-]+", matched["known"])
            hint = did_you_mean(matched["value"], known)
            raise UsageError(f"{matched['option']} must be one of {', '.join(known)}, not {matched['value']}{hint}")
        raise UsageError(f"{message} (see {self.prog} --help)")
