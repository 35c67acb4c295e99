"""The repositories of the corpus: which commit is read, of what kind it is, and why it is there."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from corpus.failure import CorpusError

HERE = Path(__file__).parent
_GIT_DIRECTORY = "objects"


@dataclass(frozen=True, slots=True)
class Repository:
    """``name`` is ``owner/name``, ``commit`` 40 hex digits, ``kind`` what its code is written with, ``why`` one line."""

    name: str
    commit: str
    kind: str
    why: str

    @property
    def folder(self) -> str:
        """The name as part of a path."""
        return self.name.replace("/", "+")

    def link(self, path: str, line: int) -> str:
        """The address of a line at the commit; of a notebook that of the whole, since its lines count from the start of a cell."""
        anchor = "" if path.endswith(".ipynb") else f"#L{line}"
        return f"https://github.com/{self.name}/blob/{self.commit}/{path}{anchor}"


def read_manifest(folder: Path = HERE) -> tuple[Repository, ...]:
    """The repositories in ``manifest.toml``, by name. Raises CorpusError."""
    path = folder / "manifest.toml"
    try:
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
        found = [Repository(**entry) for entry in stated["repository"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{path} is no manifest: {error}; each [[repository]] needs name, commit, kind and why") from error
    names = [repository.name for repository in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CorpusError(f"{path}: {', '.join(sorted(twice))} is listed twice")
    return tuple(sorted(found, key=lambda repository: repository.name.lower()))


def git_directory(root: Path, repository: Repository) -> Path:
    """Where ``root`` holds the repository: a git directory, bare or not, somewhere below ``owner+name``. Raises CorpusError."""
    folder = root / repository.folder
    for head in (folder / "HEAD", folder / ".git" / "HEAD", *sorted(folder.glob("*/HEAD")), *sorted(folder.glob("*/.git/HEAD"))):
        if (head.parent / _GIT_DIRECTORY).is_dir():
            return head.parent
    raise CorpusError(f"{folder} holds no git directory: clone {repository.name} there, or leave it out with --only")
