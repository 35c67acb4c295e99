"""``torch.futures``: what is asked for is there at once."""


class Future:
    def __init__(self, value=None, *, devices=None):
        self.result = value

    def __class_getitem__(cls, item):
        return cls

    def wait(self):
        return self.result

    value = wait

    def done(self):
        return True

    def set_result(self, result):
        self.result = result

    def then(self, callback):
        return _Later(self, callback)

    add_done_callback = then


class _Later(Future):
    """What a callback makes of a result, when it is asked for."""

    def __init__(self, future, callback):
        self.future = future
        self.callback = callback

    def wait(self):
        return self.callback(self.future)


def wait_all(futures):
    return [future.wait() for future in futures]


def collect_all(futures):
    return Future(list(futures))
