"""Which files of a commit may say something about training: code, and what configures or launches it."""

from __future__ import annotations

from pathlib import PurePosixPath

CODE = frozenset({".py", ".ipynb"})
_DATA = frozenset({".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".bash", ".slurm", ".sbatch"})
#: Larger code is generated, and larger data is no configuration.
CODE_BYTES = 2_000_000
DATA_BYTES = 300_000


def is_wanted(path: str, size: int) -> bool:
    """Whether a file of this name and size (0 where it is not known) can say something about a training run."""
    name = PurePosixPath(path)
    suffix = name.suffix.lower()
    if suffix in CODE:
        return size <= CODE_BYTES
    requirements = suffix in {".txt", ".in"} and "requirements" in name.name
    return (suffix in _DATA or requirements) and size <= DATA_BYTES
