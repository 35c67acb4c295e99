"""``torch.distributed.optim``: an optimizer of parameters that lie elsewhere; each pass has gradients of its own."""


class DistributedOptimizer:
    def __init__(self, optimizer_class, params_rref, *args, **kwargs):
        self.optimizer = optimizer_class([each.to_here() for each in params_rref], *args, **kwargs)

    def step(self, context_id):
        self.optimizer.step()
        self.optimizer.zero_grad()
