"""Initialisation writes in place: memory does not change."""


def _written(tensor, *args, **kwargs):
    return tensor


uniform_ = normal_ = trunc_normal_ = constant_ = ones_ = zeros_ = eye_ = dirac_ = _written
xavier_uniform_ = xavier_normal_ = kaiming_uniform_ = kaiming_normal_ = orthogonal_ = sparse_ = _written
xavier_uniform = xavier_normal = kaiming_uniform = kaiming_normal = normal = constant = uniform = _written


def calculate_gain(nonlinearity, param=None):
    return 1.0


def _calculate_fan_in_and_fan_out(tensor):
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.shape[1] * field, tensor.shape[0] * field
