"""``tqdm``: a bar around an iterable, or by itself."""


class tqdm:
    n = 0

    def __init__(self, iterable=None, desc=None, total=None, *args, **options):
        self.iterable = iterable
        self.total = total

    def __iter__(self):
        for item in self.iterable:
            yield item
            del item

    def __len__(self):
        return len(self.iterable) if self.iterable is not None else self.total

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, n=1):
        pass

    set_postfix = set_description = set_postfix_str = set_description_str = write = close = refresh = reset = clear = display = unpause = update


def trange(*bounds, **options):
    return range(*bounds)
