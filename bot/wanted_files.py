"""Which files of a commit may say something about training: code, and what configures or launches it."""

from __future__ import annotations

from pathlib import PurePosixPath

CODE = frozenset({".py", ".ipynb"})
_DATA = frozenset({".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".bash", ".slurm", ".sbatch"})
#: Larger code is generated, and larger data is no configuration.
CODE_BYTES = 2_000_000
DATA_BYTES = 300_000


#: Parts of a path that a tree can hold and no checkout makes.
_NO_NAMES = frozenset({"", ".", "..", ".git"})


def _is_nowhere(path: str) -> bool:
    """Whether the path leads out of the repository, or into git's own folder."""
    return not _NO_NAMES.isdisjoint(path.split("/"))


def is_wanted(path: str, size: int) -> bool:
    """Whether a file of this name and size (0 where it is not known) can say something about a training run."""
    if _is_nowhere(path):
        return False
    name = PurePosixPath(path)
    suffix = name.suffix.lower()
    if suffix in CODE:
        return size <= CODE_BYTES
    requirements = suffix in {".txt", ".in"} and "requirements" in name.name
    return (suffix in _DATA or requirements) and size <= DATA_BYTES
