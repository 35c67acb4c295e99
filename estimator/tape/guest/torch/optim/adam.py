"""Adam and AdamW: two moments a parameter; foreach makes one list of temporaries, fused none."""

import torch
from torch.optim.optimizer import Optimizer, _on_gpu, _run


class Adam(Optimizer):
    """Adam, with decay added to the gradient."""

    decoupled = False

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        if isinstance(lr, torch.Tensor):
            lr = 1e-3
        super().__init__(
            params,
            dict(
                lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, foreach=foreach, maximize=maximize, capturable=capturable, fused=fused
            ),
        )

    @torch.no_grad()
    def step(self, closure=None):
        loss = _run(closure)
        for group in self.param_groups:
            params = self._params(group)
            if not params:
                continue
            for param in params:
                state = self.state[param]
                if not state:
                    on_device = group["fused"] or group["capturable"]
                    state["step"] = torch.zeros((), dtype=torch.float32, device=param.device if on_device else "cpu")
                    state["exp_avg"] = torch.zeros_like(param)
                    state["exp_avg_sq"] = torch.zeros_like(param)
                    if group["amsgrad"]:
                        state["max_exp_avg_sq"] = torch.zeros_like(param)
            if group["fused"]:
                torch._fused_adamw_(params)
            elif group["foreach"] or (group["foreach"] is None and _on_gpu(params)):
                self._foreach(group, params)
            else:
                self._each(group, params)
        return loss

    def _foreach(self, group, params):
        grads = [param.grad for param in params]
        squares = [self.state[param]["exp_avg_sq"] for param in params]
        if group["maximize"]:
            grads = torch._foreach_neg(grads)
        if group["weight_decay"] != 0:
            if self.decoupled:
                torch._foreach_mul_(params, 1 - group["lr"] * group["weight_decay"])
            elif group["maximize"]:
                torch._foreach_add_(grads, params)
            else:
                grads = torch._foreach_add(grads, params)
        if group["amsgrad"]:
            squares = [self.state[param]["max_exp_avg_sq"] for param in params]
        denominators = torch._foreach_sqrt(squares)
        torch._foreach_div_(denominators, 1.0)
        torch._foreach_add_(denominators, group["eps"])

    def _each(self, group, params):
        for param in params:
            grad = param.grad
            state = self.state[param]
            if group["weight_decay"] != 0 and not self.decoupled:
                grad = grad.add(param, alpha=group["weight_decay"])
            squares = state["exp_avg_sq"]
            denominator = (squares.sqrt() / 1.0).add_(group["eps"])
            param.addcdiv_(state["exp_avg"], denominator)


class AdamW(Adam):
    """Adam, with decay apart from the gradient."""

    decoupled = True

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable, fused=fused)


class NAdam(Adam):
    """Adam with Nesterov momentum; the same state."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, **options):
        super().__init__(params, lr, betas, eps, weight_decay, foreach=options.get("foreach"))


class RAdam(Adam):
    """Rectified Adam; the same state."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, **options):
        super().__init__(params, lr, betas, eps, weight_decay, foreach=options.get("foreach"))


class Adamax(Adam):
    """Adam with the infinity norm; the same state."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, **options):
        super().__init__(params, lr, betas, eps, weight_decay, foreach=foreach)
