"""A server on a loopback port."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Listener:
    """An application being served at `url`, which has no slash at its end."""

    url: str
    _runner: web.AppRunner

    @classmethod
    async def open(cls, application: web.Application, port: int = 0) -> Listener:
        """Serve an application on a port of 127.0.0.1; 0 takes a free one."""
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, HOST, port)
        await site.start()
        chosen = runner.addresses[0][1]
        return cls(f"http://{HOST}:{chosen}", runner)

    async def close(self) -> None:
        """Stop serving."""
        await self._runner.cleanup()
