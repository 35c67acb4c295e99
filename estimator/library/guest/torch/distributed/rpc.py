"""Remote procedure calls: what other processes run is run here, and what they hold is counted with this one: at least as much as any of them has."""

from preflight_host import noted
from torch.futures import Future, completed


class _State:
    """Whether this process has joined, with how many, and whether it has asked another for anything."""

    joined = asked = False
    processes = 1


STATE = _State()


class WorkerInfo:
    def __init__(self, name, id):
        self.name = name
        self.id = id


class TensorPipeRpcBackendOptions:
    def __init__(self, *args, **options):
        self.init_method = None

    def set_device_map(self, *args):
        pass


class functions:
    @staticmethod
    def async_execution(function):
        """What is answered once the other processes have asked the same."""

        def call(*args, **kwargs):
            future = function(*args, **kwargs)
            for _ in range(1, STATE.processes):
                if future.done():
                    break
                function(*args, **kwargs)
            return future

        return call


def init_rpc(name, backend=None, rank=-1, world_size=None, rpc_backend_options=None):
    STATE.joined = True
    STATE.processes = world_size if world_size is not None else 1


def shutdown(graceful=True, timeout=0):
    pass


def get_worker_info(worker_name=None):
    return WorkerInfo("worker" if worker_name is None else worker_name, 1)


def _asked(function, args, kwargs):
    STATE.asked = True
    noted("assumed_sharding", "what other processes are asked to run is counted with this one: none of them holds more")
    result = function(*(args if args is not None else ()), **(kwargs if kwargs is not None else {}))
    return result.wait() if isinstance(result, Future) else result


def rpc_sync(to, func, args=None, kwargs=None, timeout=-1):
    return _asked(func, args, kwargs)


def rpc_async(to, func, args=None, kwargs=None, timeout=-1):
    return completed(_asked(func, args, kwargs))


def remote(to, func, args=None, kwargs=None, timeout=-1):
    return RRef(_asked(func, args, kwargs))


class _Proxy:
    """Methods of an object elsewhere."""

    def __init__(self, value, wrap):
        self.__dict__["_value"] = value
        self.__dict__["_wrap"] = wrap

    def __getattr__(self, name):
        value, wrap = self.__dict__["_value"], self.__dict__["_wrap"]

        def call(*args, **kwargs):
            return wrap(_asked(getattr(value, name), args, kwargs))

        return call


class RRef:
    def __init__(self, value, type_hint=None):
        self.value = value

    def __class_getitem__(cls, item):
        return cls

    def owner(self):
        return WorkerInfo("worker", 1)

    def owner_name(self):
        return "worker"

    def is_owner(self):
        return True

    def to_here(self, timeout=-1):
        return self.value

    local_value = to_here

    def rpc_sync(self, timeout=-1):
        return _Proxy(self.value, lambda result: result)

    def rpc_async(self, timeout=-1):
        return _Proxy(self.value, completed)

    def remote(self, timeout=-1):
        return _Proxy(self.value, RRef)
