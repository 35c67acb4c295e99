"""Tables of our own beside those of the job engine, in an SQLite file or in PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine, event, text

#: Of those who create a table at once in PostgreSQL all but one would fail.
_CREATING = 0x7072_6566_6C69_6768


def opened(url: str, table: str) -> Engine:
    """The database at ``url`` ("sqlite:///…" or "postgresql://…"), in which the statement ``table`` creates what is not there yet."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _write_ahead)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATING})
        connection.execute(text(table))
    return engine


def _write_ahead(connection: object, _record: object) -> None:
    """Readers and the writer do not wait for each other, and a commit is on the disk before it is answered."""
    cursor = connection.cursor()  # type: ignore[attr-defined]  # a DB-API connection, which SQLAlchemy does not type
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()
