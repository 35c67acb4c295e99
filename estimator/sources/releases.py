"""The releases of one run: the version that the repository asks for chooses which, once for each library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis.source import SourceFile
from estimator.sources import Shelf
from estimator.sources.modules import class_for, config_class_for, defining_module, module_in, module_of

#: Libraries whose own source is read, and which part of it: of some the models (and pipelines) alone, since the rest only holds them together.
READ: Mapping[str, tuple[str, ...]] = {
    "transformers": (
        "transformers.models.", "transformers.loss.", "transformers.modeling_attn_mask_utils", "transformers.image_transforms",
        "transformers.utils.backbone_utils", "transformers.backbone_utils",
    ),
    "timm": ("timm.",),
    "diffusers": ("diffusers.models.", "diffusers.pipelines.", "diffusers.schedulers."),
    "ultralytics": ("ultralytics.",),
}  # fmt: skip
#: Modules of ours that leave out what does not change what a model holds; whoever asks for that gets the library's own.
_BEHIND = frozenset({"diffusers.training_utils"})
#: Paths of those modules go on so, to be told from ours.
_BEHIND_PREFIX = "behind/"
#: Libraries of which a class is a model wherever in their source it is defined.
DEFINE_MODELS = frozenset({"transformers", "diffusers"})
#: Packages that hand on what the library as a whole does.
HANDED_ON: Mapping[str, str] = {f"diffusers.{part}": "diffusers" for part in ("models", "pipelines", "schedulers")}
_NO_FILES: Mapping[str, bytes] = {}


class Releases:
    """Modules and classes of the releases at hand; nothing where there are none."""

    def __init__(self, shelf: Shelf | None, pinned: Callable[[str], tuple[int, ...]], own: Callable[[str], Mapping[str, bytes]]) -> None:
        self._shelf = shelf
        self._pinned = pinned
        self._own = own
        self._files: dict[str, Mapping[str, bytes]] = {}
        self._modules: dict[str, SourceFile | None] = {}

    def files(self, library: str) -> Mapping[str, bytes]:
        """The files of ``library``: the repository's, where it is that library's, else of the release; none where none is at hand."""
        if library not in self._files:
            found = self._own(library) or (None if self._shelf is None else self._shelf.release(library, self._pinned(library)))
            self._files[library] = _NO_FILES if found is None else found
        return self._files[library]

    def module(self, dotted: str) -> SourceFile | None:
        """The module ``dotted`` of a release, parsed once."""
        library = dotted.partition(".")[0]
        if not dotted.startswith(READ.get(library, ())):
            return None
        if dotted not in self._modules:
            self._modules[dotted] = module_in(self.files(library), dotted)
        return self._modules[dotted]

    def source_at(self, path: str) -> SourceFile | None:
        """The module of a release that lies there, if it was read."""
        return next((found for found in self._modules.values() if found is not None and found.path == path), None)

    def behind(self, dotted: str) -> SourceFile | None:
        """The library's own module of the name of one of ours, for what ours leaves out; None where none is read."""
        if dotted not in _BEHIND:
            return None
        key = f"{_BEHIND_PREFIX}{dotted}"
        if key not in self._modules:
            self._modules[key] = module_in(self.files(dotted.partition(".")[0]), dotted, _BEHIND_PREFIX)
        return self._modules[key]

    def module_of(self, library: str, name: str) -> str:
        """The module of a library that defines a class of models, or a function that makes one; "" where the release has none of that name."""
        files, folders = self.files(library), tuple(f"{library}/{part}/" for part in ("models", "pipelines", "schedulers"))
        return (module_of(files, name) if library == "transformers" else defining_module(files, folders, name)) or ""

    def class_for(self, model_type: str, task: str) -> str | None:
        """The dotted name of the class that does ``task`` in a family of ``transformers``, or of its configuration."""
        files = self.files("transformers")
        return config_class_for(files, model_type) if task == "config" else class_for(files, model_type, task)
