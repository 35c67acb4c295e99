"""Framework code that is read like the user's own: what a trainer's loop does, in Python, in ``analysis/library/guest``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from analysis.source import NotAnalysed, SourceFile, read

#: Paths of guest sources begin so: nothing is ever reported in one.
PREFIX = "<library>/"
#: Module of a framework → the guest source that stands for it.
_SOURCES = {
    "lightning": "lightning_loop", "lightning.pytorch": "lightning_loop", "pytorch_lightning": "lightning_loop",
    "pytorch_lightning.core": "lightning_module", "lightning.pytorch.core": "lightning_module", "lightning.pytorch.trainer": "lightning_loop",
    "pytorch_lightning.core.lightning": "lightning_module", "pytorch_lightning.trainer": "lightning_loop",
    "lightning.pytorch.core.module": "lightning_module", "pytorch_lightning.core.module": "lightning_module",
    "transformers.trainer": "transformers_loop", "transformers.trainer_callback": "transformers_loop",
    "composer": "composer_loop", "composer.trainer": "composer_loop", "composer.models": "composer_loop",
    **dict.fromkeys(
        ("fastai.basics", "fastai.learner", "fastai.callback.core", "fastai.vision.all", "fastai.vision.learner", "fastai.text.all", "fastai.tabular.all"),
        "fastai_loop",
    ),
    "fvcore.common.checkpoint": "fvcore_checkpoint", "ignite.engine": "ignite_loop", "trl.trainer": "trl_loop",
    "preflight_imagined": "imagined",
}  # fmt: skip
#: Classes that a package exports beside many others → the module with guest source that defines them.
REEXPORTED = {
    **dict.fromkeys(
        ("transformers.Trainer", "transformers.TrainingArguments", "transformers.TrainerCallback", "transformers.TrainerState", "transformers.TrainerControl"),
        "transformers.trainer",
    ),
    **dict.fromkeys(("transformers.Seq2SeqTrainer", "transformers.Seq2SeqTrainingArguments"), "transformers.trainer"),
    **dict.fromkeys(
        (f"{package}.callbacks{module}.Callback" for package in ("lightning.pytorch", "pytorch_lightning") for module in ("", ".callback", ".base")),
        "lightning.pytorch",
    ),
    **dict.fromkeys((f"trl.{way}{part}" for way in ("SFT", "DPO", "Reward", "CPO", "ORPO", "KTO") for part in ("Trainer", "Config")), "trl.trainer"),
}


def source_of(dotted: str) -> SourceFile | None:
    """The guest source that stands for the module ``dotted``, parsed once."""
    name = _SOURCES.get(dotted)
    return None if name is None else _read(name)


@cache
def _read(name: str) -> SourceFile:
    path = f"{PREFIX}{name}.py"
    source = read(path, files("analysis.library").joinpath("guest", f"{name}.py").read_bytes())
    if isinstance(source, NotAnalysed):
        raise TypeError(f"{path} is no source: {source.reason}")
    return source
