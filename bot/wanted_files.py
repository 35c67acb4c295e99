"""Which files of a commit may say something about training: code, and what configures or launches it."""

from __future__ import annotations

from pathlib import PurePosixPath

_SUFFIXES = frozenset({".cfg", ".ini", ".json", ".py", ".sbatch", ".sh", ".slurm", ".toml", ".yaml", ".yml"})
_NAMES = frozenset({"Makefile", "Procfile"})
#: Data is stored in the same formats as configuration; configuration is small.
MAX_CONFIGURATION_BYTES = 256_000


def is_wanted(path: str, size: int = 0) -> bool:
    """Whether to read ``path`` of ``size`` bytes (0 where it is not known)."""
    name = PurePosixPath(path).name
    if name.endswith(".py"):
        return True
    wanted = PurePosixPath(name).suffix in _SUFFIXES or name in _NAMES or (name.startswith("requirements") and name.endswith(".txt"))
    return wanted and size <= MAX_CONFIGURATION_BYTES
