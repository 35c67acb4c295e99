"""``torch.multiprocessing``: the first process of those that are started."""


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    fn(0, *args)


class Process:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, daemon=None):
        self.target = target
        self.args = args
        self.kwargs = kwargs if kwargs is not None else {}
        self.started = False

    def start(self):
        self.started = True
        self.target(*self.args, **self.kwargs)

    def join(self, timeout=None):
        pass


def set_start_method(*args, **options):
    pass


def get_context(*args, **options):
    return None


set_sharing_strategy = freeze_support = set_start_method
