"""What ``accelerate.utils`` does to models and what comes of them."""

from preflight_host import converted_to_fp32


def extract_model_from_parallel(model, *args, **options):
    """The model in its wrappers."""
    while hasattr(model, "module"):
        model = model.module
    return model


def convert_outputs_to_fp32(function):
    def converted(*args, **kwargs):
        return converted_to_fp32(function(*args, **kwargs))

    return converted


def gather_object(made):
    return made


class FP8RecipeKwargs:
    def __init__(self, *args, **options):
        pass


TERecipeKwargs = AORecipeKwargs = MSAMPRecipeKwargs = FP8RecipeKwargs
