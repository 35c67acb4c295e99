"""Dotted name ⇄ path, as Python would find it: scripts beside their helpers, packages, src layouts, relative imports.

Nothing is installed here, so ``sys.path`` is imagined: the entry script's folder, the folder that holds the importer's outermost
package, the top of the repository, and at last any folder that holds the whole dotted name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TypeAlias

from analysis.snapshot import Snapshot

_LIBRARIES = """
accelerate apex bitsandbytes cv2 datasets deepspeed diffusers einops evaluate fastai fire flash_attn huggingface_hub hydra ignite jax lightning
matplotlib ml_collections mlflow monai networkx nltk numpy omegaconf optuna pandas peft PIL pytest pytorch_lightning ray requests safetensors scipy
sentence_transformers skimage sklearn tensorboard tensorboardX tensorflow timm tiktoken tokenizers torch torch_geometric torch_xla torchaudio
torchdata torchmetrics torchtext torchvision tqdm transformers triton trl wandb webdataset xformers yaml
"""
#: Names that, met away from the script's own folder, mean the installed library and not a folder of the same name.
LIBRARIES = frozenset(_LIBRARIES.split())


#: Files by dotted name and importer.
Resolved: TypeAlias = "dict[tuple[str, str], str | None]"


class Modules:
    """The modules of one snapshot."""

    __slots__ = ("_absolutely", "_by_tail", "_found", "paths")

    def __init__(self, snapshot: Snapshot) -> None:
        self.paths = frozenset(path for path in snapshot.paths if path.endswith(".py"))
        self._by_tail: dict[str, list[str]] = {}
        self._found: dict[str, Resolved] = {}
        self._absolutely: dict[tuple[str, str, str], str | None] = {}
        for path in sorted(self.paths):
            self._by_tail.setdefault(_tail(path), []).append(path)

    def resolve(self, dotted: str, importer_path: str, entry_path: str) -> str | None:
        """The file that ``import dotted`` in ``importer_path`` loads when ``entry_path`` runs: a module, or a package's ``__init__.py``.

        Leading dots are a relative import. None: the repository has no such module (a library, or a folder without ``__init__.py``).
        """
        found = self._found.setdefault(entry_path, {})
        key = (dotted, importer_path)
        if key not in found:
            found[key] = self._relative(dotted, importer_path) if dotted.startswith(".") else self._from_folder(dotted, importer_path, entry_path)
        return found[key]

    def resolved(self, entry_path: str) -> Resolved:
        """All that was asked of it so far while ``entry_path`` ran, with the answers."""
        return self._found.get(entry_path, {})

    def all_of(self, dotted: str, importer_path: str, entry_path: str) -> tuple[str, ...]:
        """The file of a module; the files of all modules of a package for ``package.*``, whether it has an ``__init__.py`` or not."""
        package, star, rest = dotted.partition(".*")
        if not star or rest:
            found = self.resolve(dotted, importer_path, entry_path)
            return () if found is None else (found,)
        init = self.resolve(package, importer_path, entry_path)
        inner = package.replace(".", "/")
        folders = [_parent(init)] if init is not None and init.endswith("/__init__.py") else [f"{_parent(importer_path)}/{inner}".lstrip("/"), inner]
        return next((files for folder in folders if (files := tuple(sorted(path for path in self.paths if _parent(path) == folder)))), ())

    def dotted_name(self, path: str) -> str:
        """The name under which a file is usually imported: from the folder that holds its outermost package."""
        root = self.import_root(path)
        inner = path.removeprefix(f"{root}/") if root else path
        return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def import_root(self, path: str) -> str:
        """The innermost folder above ``path`` that is no package, "" for the top."""
        folder = _parent(path)
        while folder and self._is_package(folder):
            folder = _parent(folder)
        return folder

    def packages_above(self, path: str) -> tuple[str, ...]:
        """The ``__init__.py`` of each package that holds ``path``, the outermost first, as importing it runs them."""
        folder = _parent(path.removesuffix("/__init__.py"))
        found: list[str] = []
        while folder and self._is_package(folder):
            found.append(f"{folder}/__init__.py")
            folder = _parent(folder)
        return tuple(reversed(found))

    def _relative(self, dotted: str, importer_path: str) -> str | None:
        name = dotted.lstrip(".")
        folder = _parent(importer_path)
        for _ in range(len(dotted) - len(name) - 1):
            if not folder:
                return None
            folder = _parent(folder)
        return self._at(folder, name.replace(".", "/"))

    def _from_folder(self, dotted: str, importer_path: str, entry_path: str) -> str | None:
        """``_absolute``, which gives the same for all entries in one folder."""
        key = (dotted, importer_path, _parent(entry_path))
        if key not in self._absolutely:
            self._absolutely[key] = self._absolute(dotted, importer_path, entry_path)
        return self._absolutely[key]

    def _absolute(self, dotted: str, importer_path: str, entry_path: str) -> str | None:
        top = dotted.partition(".")[0]
        inner = dotted.replace(".", "/")
        for root in self._roots(top, importer_path, entry_path):
            path = self._at(root, inner)
            if path is not None and path != importer_path:
                return path
            if path is None and self._at(root, top) not in {None, importer_path}:
                return None  # a regular package is found once: Python does not look for its parts elsewhere
        if top in LIBRARIES or top in sys.stdlib_module_names:
            return None
        return self._anywhere(inner, importer_path)

    def _roots(self, top: str, importer_path: str, entry_path: str) -> Iterator[str]:
        """The imagined ``sys.path``."""
        script_folder = _parent(entry_path)
        is_script = not self._is_package(script_folder)
        if is_script:
            yield script_folder
        if top in sys.stdlib_module_names:
            return
        roots = [self.import_root(importer_path), self.import_root(entry_path), "", script_folder]
        yield from dict.fromkeys(root for root in roots if not is_script or root != script_folder)

    def _anywhere(self, inner: str, importer_path: str) -> str | None:
        """The file under any other folder; the one nearest to the importer, and None if two are as near."""
        ranked: list[tuple[int, int, str]] = []
        for path in self._by_tail.get(inner.rpartition("/")[2], ()):
            for ending in (f"{inner}.py", f"{inner}/__init__.py"):
                root = path.removesuffix(f"/{ending}")
                if root != path and not self._is_package(root):
                    ranked.append((-_shared_folders(root, importer_path), root.count("/"), path))
        ranked.sort()
        if not ranked or (len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]):
            return None
        return ranked[0][2]

    def _at(self, folder: str, inner: str) -> str | None:
        """The package or module ``inner`` in ``folder``; a package goes before a module, as in Python."""
        start = f"{folder}/{inner}" if folder and inner else folder or inner
        for path in (f"{start}/__init__.py", f"{start}.py"):
            if path in self.paths:
                return path
        return None

    def _is_package(self, folder: str) -> bool:
        return f"{folder}/__init__.py" in self.paths


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _tail(path: str) -> str:
    """The last part of the module's dotted name."""
    return path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]


def _shared_folders(left: str, right: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(left.split("/"), right.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
