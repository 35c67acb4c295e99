"""``torch.distributed``: this process is rank 0. Messages of collectives are small or in place; what they take of their own is not counted."""

from preflight_host import world_size


class ReduceOp:
    SUM = AVG = MAX = MIN = PRODUCT = "op"


class group:
    WORLD = None


def is_available():
    return True


def is_initialized():
    return world_size() > 1


is_torchelastic_launched = is_nccl_available = is_mpi_available = is_initialized


def get_rank(group=None):
    return 0


get_node_local_rank = get_rank


def get_world_size(group=None):
    return world_size()


def get_backend(group=None):
    return "nccl"


def init_process_group(*args, **options):
    pass


destroy_process_group = barrier = monitored_barrier = all_reduce = broadcast = reduce = send = recv = new_group = init_process_group
broadcast_object_list = all_gather_object = gather_object = scatter = all_reduce


def all_gather(tensors, tensor, *args, **options):
    pass


gather = all_gather_into_tensor = reduce_scatter_tensor = all_gather
