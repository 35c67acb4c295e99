"""Numbers that weights begin with: nothing of it takes memory."""


def _nothing(tensor=None, *args, **options):
    return tensor


normal_ = zeros_ = ones_ = constant_ = copy_ = trunc_normal_ = uniform_ = xavier_uniform_ = xavier_normal_ = kaiming_normal_ = kaiming_uniform_ = eye_ = _nothing
