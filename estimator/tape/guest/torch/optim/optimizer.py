"""What all optimizers share: groups of parameters, state by parameter, and a step that is marked as one."""

import torch


def _marked(step):
    """``step`` in the phase of that name."""

    def marked_step(self, *args, **kwargs):
        before = torch._C._enter_phase("optimizer_step")
        if before != "optimizer_step":
            torch._C._optimizer_stepped(self._number)
        try:
            return step(self, *args, **kwargs)
        finally:
            torch._C._resume_phase(before)

    return marked_step


#: Classes whose step is marked.
_MARKED = []


class _State(dict):
    """State by parameter, empty where there is none yet."""

    def __missing__(self, key):
        self[key] = {}
        return self[key]


class Optimizer:
    """Groups of parameters with options."""

    def __init__(self, params, defaults):
        cls = type(self)
        if cls not in _MARKED:
            cls.step = _marked(cls.step)
            _MARKED.append(cls)
        self.defaults = defaults
        self._number = torch._C._optimizer_built(cls.__name__, defaults)
        self.state = _State()
        self.param_groups = []
        groups = [params] if isinstance(params, (torch.Tensor, dict)) else list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        params = param_group["params"]
        params = [params] if isinstance(params, torch.Tensor) else list(params)
        params = [entry[1] if isinstance(entry, tuple) else entry for entry in params]
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    if set_to_none:
                        param.grad = None
                    else:
                        param.grad.zero_()

    def step(self, closure=None):
        raise NotImplementedError

    def _params(self, group):
        """Parameters of the group that have a gradient."""
        return [param for param in group["params"] if param.grad is not None]

    def state_dict(self):
        return {"state": dict(self.state), "param_groups": self.param_groups}

    def load_state_dict(self, state_dict):
        """State keeps its size."""

    def register_step_post_hook(self, hook):
        """Hooks are not run."""

    def register_step_pre_hook(self, hook):
        """Hooks are not run."""


def _on_gpu(params):
    """Whether the foreach implementation is the default: all parameters on the GPU."""
    return all(param.is_cuda for param in params)


def _run(closure):
    """The loss of the closure, with gradients recorded."""
    if closure is None:
        return None
    with torch.enable_grad():
        return closure()
