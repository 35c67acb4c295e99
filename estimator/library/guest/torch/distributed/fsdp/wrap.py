"""Which parts are units of their own. Mirrors torch 2.14 (``distributed/fsdp/wrap.py``)."""


def always_wrap_policy(*args, **options):
    return True


def _or_policy(module=None, recurse=False, nonwrapped_numel=0, policies=()):
    return recurse or any(policy(module=module, recurse=False, nonwrapped_numel=nonwrapped_numel) for policy in policies)


def size_based_auto_wrap_policy(module=None, recurse=False, nonwrapped_numel=0, min_num_params=100_000_000, **options):
    return recurse or nonwrapped_numel >= min_num_params


def transformer_auto_wrap_policy(module=None, recurse=False, nonwrapped_numel=0, transformer_layer_cls=()):
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def lambda_auto_wrap_policy(module=None, recurse=False, nonwrapped_numel=0, lambda_fn=None):
    return recurse or lambda_fn(module)


class ModuleWrapPolicy:
    def __init__(self, module_classes):
        self.module_classes = module_classes

    def __call__(self, module=None, recurse=False, **options):
        return recurse or isinstance(module, tuple(self.module_classes))


class CustomPolicy:
    def __init__(self, lambda_fn):
        self.lambda_fn = lambda_fn

    def __call__(self, module=None, recurse=False, **options):
        return recurse or self.lambda_fn(module)


def enable_wrap(*args, **options):
    from accelerate import nothing

    return nothing()


def wrap(module, **options):
    return module
