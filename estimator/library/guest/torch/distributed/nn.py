"""``torch.distributed.nn``: modules that lie elsewhere."""

from torch.distributed.rpc import RRef


class RemoteModule:
    def __init__(self, remote_device, module_cls, args=None, kwargs=None):
        self.module = module_cls(*(args if args is not None else ()), **(kwargs if kwargs is not None else {}))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    __call__ = forward

    def remote_parameters(self, recurse=True):
        return [RRef(parameter) for parameter in self.module.parameters(recurse)]

    def get_module_rref(self):
        return RRef(self.module)
