"""The web host: which address shows which page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from simulator.platform import Platform


class Pages:
    """The request handlers of the web host."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def application(self) -> web.Application:
        """The aiohttp application to serve."""
        return web.Application()
