"""Webhook events: one file each, found by being there, each ending in one job or in the reason why there is none.

A module here names its ``EVENT`` and has ``job(delivery, payload)``. It reads the payload and does nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from bot.events.payload import Handler


@cache
def handlers() -> Mapping[str, Handler]:
    """The handler of every event there is a file for."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {module.EVENT: module.job for module in modules if hasattr(module, "EVENT")}
