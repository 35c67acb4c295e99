"""``LightningCLI``. Mirrors Lightning 2.6: a module, its data and a trainer made of the YAML file that is named, and trained."""

from lightning.pytorch import Trainer
from preflight_host import configuration_of_repository, located


class LightningArgumentParser:
    def add_argument(self, *args, **options):
        pass

    link_arguments = set_defaults = add_optimizer_args = add_lr_scheduler_args = add_class_arguments = add_argument


class LightningCLI:
    def __init__(
        self, model_class=None, datamodule_class=None, save_config_callback=None, trainer_class=Trainer, trainer_defaults=None, parser_kwargs=None,
        run=True, **options,
    ):  # fmt: skip
        files = (parser_kwargs if parser_kwargs is not None else {}).get("default_config_files", [])
        self.config = configuration_of_repository(files, ("trainer", "model"))
        self.add_arguments_to_parser(LightningArgumentParser())
        self.model = made(model_class, self.config.get("model", {}))
        self.datamodule = made(datamodule_class, self.config.get("data", {})) if datamodule_class is not None or "data" in self.config else None
        self.trainer = trainer_class(**{**(trainer_defaults if trainer_defaults is not None else {}), **self.config.get("trainer", {})})
        if run:
            self.trainer.fit(self.model, datamodule=self.datamodule)

    def add_arguments_to_parser(self, parser):
        pass


def made(cls, settings):
    """An object of the class that is given, or of the one that the settings name."""
    if "class_path" in settings:
        return located(settings["class_path"])(**settings.get("init_args", {}))
    return cls(**settings)
