"""The old name of a tensor that wants a gradient."""


def Variable(data, requires_grad=False, volatile=False):
    return data.requires_grad_(requires_grad) if requires_grad else data
