"""``diffusers.training_utils``. Mirrors diffusers 0.42.1: averages of parameters, one after another."""

import torch


class EMAModel:
    def __init__(self, parameters, decay=0.9999, foreach=False, model_cls=None, model_config=None, **options):
        self.shadow_params = [parameter.clone().detach() for parameter in list(parameters)]
        self.decay = decay
        self.cur_decay_value = None
        self.optimization_step = 0

    @torch.no_grad()
    def step(self, parameters):
        self.optimization_step += 1
        for average, current in zip(self.shadow_params, list(parameters)):
            if current.requires_grad:
                average.sub_((1.0 - self.decay) * (average - current))
            else:
                average.copy_(current)

    def to(self, device=None, dtype=None, **options):
        self.shadow_params = [average.to(device=device, dtype=dtype) if average.is_floating_point() else average for average in self.shadow_params]

    def copy_to(self, parameters):
        pass

    store = restore = save_pretrained = load_state_dict = copy_to

    def state_dict(self):
        return {"shadow_params": self.shadow_params}


def set_seed(seed):
    pass


def cast_training_params(model, dtype=torch.float32):
    for module in model if isinstance(model, list) else [model]:
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.to(dtype)
