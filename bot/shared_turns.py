"""When an installation's next write is due, told to all processes alike: each keeps a second between its own writes, and GitHub counts them together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from bot.tables import opened

_TABLE = "CREATE TABLE IF NOT EXISTS preflight_turns (installation BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL)"
_RESERVE = """
INSERT INTO preflight_turns (installation, at) VALUES (:installation, clock_timestamp())
ON CONFLICT (installation) DO UPDATE SET at = GREATEST(preflight_turns.at + make_interval(secs => :interval), clock_timestamp())
RETURNING EXTRACT(EPOCH FROM at - clock_timestamp())
"""
_REST = """
INSERT INTO preflight_turns (installation, at) VALUES (:installation, clock_timestamp() + make_interval(secs => :seconds))
ON CONFLICT (installation) DO UPDATE SET at = GREATEST(preflight_turns.at, excluded.at)
"""


@dataclass(slots=True)
class SharedTurns:
    """The table in the PostgreSQL database at ``url``; every moment in it is by that server's clock."""

    url: str = field(repr=False)
    _engine: Engine | None = None

    async def reserve(self, installation: int, interval: float) -> float:
        """Seconds until a write may begin that nobody else has this turn for, ``interval`` after the one before. Raises ConnectionError."""
        return max(0.0, float(await asyncio.to_thread(self._ask, _RESERVE, {"installation": installation, "interval": interval})))

    async def rest(self, installation: int, seconds: float) -> None:
        """Let nobody's next write begin before so many ``seconds`` are over. Raises ConnectionError."""
        await asyncio.to_thread(self._ask, _REST, {"installation": installation, "seconds": seconds})

    def close(self) -> None:
        """Let go of the database."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _ask(self, statement: str, values: dict[str, float]) -> float:
        try:
            if self._engine is None:
                self._engine = opened(self.url, _TABLE)
            with self._engine.begin() as connection:
                found = connection.execute(text(statement), values)
                return float(found.scalar_one()) if found.returns_rows else 0.0
        except SQLAlchemyError as error:
            raise ConnectionError(f"the database: {error}") from error
