"""``torch.futures``: what is asked for is there at once; one that a program makes is done once it was given a result."""


class Future:
    result = None
    is_done = False

    def __init__(self, *, devices=None):
        pass

    def __class_getitem__(cls, item):
        return cls

    def wait(self):
        return self.result

    value = wait

    def done(self):
        return self.is_done

    def set_result(self, result):
        self.result = result
        self.is_done = True

    def then(self, callback):
        return _Later(self, callback)

    add_done_callback = then


class _Later(Future):
    """What a callback makes of a result, when it is asked for."""

    is_done = True

    def __init__(self, future, callback):
        self.future = future
        self.callback = callback

    def wait(self):
        return self.callback(self.future)


def completed(value):
    future = Future()
    future.set_result(value)
    return future


def wait_all(futures):
    return [future.wait() for future in futures]


def collect_all(futures):
    return completed(list(futures))
