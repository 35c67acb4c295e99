"""``torch.multiprocessing``: the first process of those that are started; of those that wait for each other's calls, the one that calls."""


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    from torch.distributed.rpc import STATE

    fn(0, *args)
    for rank in range(1, nprocs):
        if not STATE.joined or STATE.asked:
            return
        fn(rank, *args)


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
