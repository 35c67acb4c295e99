"""NumPy's random numbers: as many as are asked for."""

from __future__ import annotations

from typing import Any

from estimator.library.arrays import Array
from estimator.tape.dtype import FLOAT64, INT64


class Drawn(Array):
    """Random numbers: whichever one is asked for will do."""

    __slots__ = ()

    def item(self, *_: Any) -> float:
        """The only one."""
        return 0.5


def _random(*_: Any, size: Any = None, **__: Any) -> Array | float:
    """Random numbers: one, or as many as ``size`` says."""
    if size is None:
        return 0.5
    return Array((size,) if isinstance(size, int) else tuple(size), FLOAT64)


def _drawn(*bounds: Any, size: Any = None, **_: Any) -> Array | int:
    """Random whole numbers."""
    wanted = size if size is not None else bounds[2] if len(bounds) > 2 else None  # noqa: PLR2004  (low, high, size)
    if wanted is None:
        return 0
    return Array((wanted,) if isinstance(wanted, int) else tuple(wanted), INT64)


def _distributed(*arguments: Any, size: Any = None, **_: Any) -> Array | float:
    """Numbers of a distribution: its third argument says how many."""
    return _random(size=size if size is not None else arguments[2] if len(arguments) > 2 else None)  # noqa: PLR2004  (location, scale, size)


def _shaped(*sizes: int) -> Array | float:
    return Drawn(sizes, FLOAT64) if sizes else 0.5


def _chosen(source: Any, size: Any = None, *_: Any, **__: Any) -> Any:
    """``numpy.random.choice``."""
    if size is None:
        return source[0] if isinstance(source, (list, tuple, Array)) else 0
    return Array((size,) if isinstance(size, int) else tuple(size), source.dtype if isinstance(source, Array) else INT64)


_RANDOM: dict[str, Any] = {
    "normal": _distributed, "uniform": _distributed, "randn": _shaped, "rand": _shaped, "random": _random, "random_sample": _random, "randint": _drawn,
    "choice": _chosen,
    "permutation": lambda count: Array((count,) if isinstance(count, int) else count.shape, INT64), "seed": lambda *_: None,
}  # fmt: skip


NAMES: dict[str, Any] = {f"numpy.random.{name}": function for name, function in _RANDOM.items()}
