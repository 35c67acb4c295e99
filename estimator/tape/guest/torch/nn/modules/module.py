"""Modules: parameters, buffers and children by name."""

import torch
from torch.nn.parameter import Parameter


class Module:
    """A part of a model. ``_parameters``, ``_buffers`` and ``_modules`` are what every traversal goes by."""

    dump_patches = False
    training = True

    __init__ = torch._C._init_module
    __call__ = torch._C._call_module
    __setattr__ = torch._C._set_attribute
    __getattr__ = torch._C._get_attribute

    def _call_with_hooks(self, *args, **kwargs):
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"Module {type(self).__name__} is missing the required forward function")

    def __delattr__(self, name):
        fields = self.__dict__
        for group in ("_parameters", "_buffers", "_modules"):
            if name in fields[group]:
                del fields[group][name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name, param):
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        if tensor is not None:
            torch._C._became(tensor, "buffers")
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name, module):
        self._modules[name] = module

    def add_module(self, name, module):
        self._modules[name] = module

    def register_forward_hook(self, hook, **options):
        return _Handle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook, **options):
        return _Handle(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook, **options):
        return _Handle({}, hook)

    def register_load_state_dict_post_hook(self, hook, **options):
        return _Handle({}, hook)

    register_full_backward_pre_hook = register_backward_hook = register_full_backward_hook
    register_state_dict_pre_hook = register_state_dict_post_hook = register_load_state_dict_pre_hook = register_load_state_dict_post_hook
    _register_state_dict_hook = _register_load_state_dict_pre_hook = register_load_state_dict_post_hook

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        return iter(torch._C._named_modules(self, prefix, remove_duplicate))

    def modules(self):
        return iter([module for _, module in torch._C._named_modules(self, "", True)])

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(torch._C._named_members(self, "_parameters", prefix, recurse, remove_duplicate))

    def parameters(self, recurse=True):
        return iter([value for _, value in torch._C._named_members(self, "_parameters", "", recurse, True)])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(torch._C._named_members(self, "_buffers", prefix, recurse, remove_duplicate))

    def buffers(self, recurse=True):
        return iter([value for _, value in torch._C._named_members(self, "_buffers", "", recurse, True)])

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    def state_dict(self, *args, **kwargs):
        entries = {name: value.detach() for name, value in self.named_parameters(remove_duplicate=False)}
        for name, value in self.named_buffers(remove_duplicate=False):
            entries[name] = value.detach()
        return entries

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return torch._C._LoadResult([], [])

    _apply = torch._C._apply_module

    def apply(self, function):
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def to(self, *args, **kwargs):
        def convert(tensor):
            return torch._C._module_to(tensor, args, kwargs)

        return self._apply(convert)

    def cuda(self, device=None):
        return self._apply(lambda tensor: tensor.cuda(device))

    def cpu(self):
        return self._apply(lambda tensor: tensor.cpu())

    def to_empty(self, *, device, recurse=True):
        return self._apply(lambda tensor: torch.empty_like(tensor, device=device))

    def type(self, dtype):
        return self._apply(lambda tensor: tensor.type(dtype))

    def float(self):
        return self._apply(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)

    def double(self):
        return self._apply(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def half(self):
        return self._apply(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor)

    def bfloat16(self):
        return self._apply(lambda tensor: tensor.bfloat16() if tensor.is_floating_point() else tensor)

    train = torch._C._train_module

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for param in self.parameters():
            if param.grad is not None:
                if set_to_none:
                    param.grad = None
                else:
                    param.grad.zero_()

    def compile(self, *args, **kwargs):
        torch._C._assume("torch.compile keeps what eager PyTorch keeps")

    def share_memory(self):
        return self

    def extra_repr(self):
        return ""

    def _get_name(self):
        return type(self).__name__


class _Handle:
    """Takes a hook away again."""

    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.key = len(hooks)
        hooks[self.key] = hook

    def remove(self):
        self.hooks.pop(self.key, None)
