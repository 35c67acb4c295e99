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


def free_memory():
    torch.cuda.empty_cache()


def compute_density_for_timestep_sampling(weighting_scheme, batch_size, logit_mean=None, logit_std=None, mode_scale=None, device="cpu", generator=None):
    """Shares of the schedule, one for each sample, on the host unless told otherwise."""
    return torch.rand(size=(batch_size,), device=device)


def compute_loss_weighting_for_sd3(weighting_scheme, sigmas=None):
    if weighting_scheme == "sigma_sqrt":
        return (sigmas**-2.0).float()
    if weighting_scheme == "cosmap":
        bottom = 1 - 2 * sigmas + 2 * sigmas**2
        return 2 / (3.141592653589793 * bottom)
    return torch.ones_like(sigmas)


def compute_snr(noise_scheduler, timesteps):
    """Signal to noise at each step. Mirrors what the library computes on the device of the steps."""
    alphas = noise_scheduler.alphas_cumprod.to(timesteps.device)
    signal = (alphas**0.5)[timesteps].float()
    noise = ((1.0 - alphas) ** 0.5)[timesteps].float()
    return (signal / noise) ** 2


def _collate_lora_metadata(modules):
    return {}


def _set_state_dict_into_text_encoder(state, prefix, text_encoder):
    pass
