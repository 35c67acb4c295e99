"""``ignite``: its engine is played, what is attached to it is not."""

from ignite import engine, handlers, metrics
