"""Commands in comments: one file each, found by being there; the docstring is the help, ``COMMAND`` says who may use it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from bot.commands.command import Command


@cache
def commands() -> Mapping[str, Command]:
    """Every command by its word, in alphabetical order."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found = [module.COMMAND for module in modules if hasattr(module, "COMMAND")]
    return {command.word: command for command in sorted(found, key=lambda command: command.word)}
