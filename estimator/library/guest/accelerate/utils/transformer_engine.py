"""Layers in the place of others. Mirrors accelerate 1.15.0 (``utils/transformer_engine.py``)."""

import transformer_engine.pytorch as te
from torch import nn

#: FP8 kernels want sizes that are whole numbers of these.
STEP = 16


def convert_model(model, to_transformer_engine=True, **options):
    """Every linear layer and layer norm becomes one of transformer_engine; in a module with a layer that cannot, what follows stays as it is."""
    for name, module in model.named_children():
        if isinstance(module, nn.Linear):
            if any([size % STEP != 0 for size in module.weight.shape]):
                return
            setattr(model, name, te.Linear(module.in_features, module.out_features, bias=module.bias is not None, params_dtype=module.weight.dtype))
        elif isinstance(module, nn.LayerNorm):
            setattr(model, name, te.LayerNorm(module.normalized_shape[0], eps=module.eps, params_dtype=module.weight.dtype))
        else:
            convert_model(module)
