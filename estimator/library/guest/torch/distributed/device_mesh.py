"""Meshes of devices: their shape is what the script says; the first dimension's product is how many train together."""

from preflight_host import noted_devices


class DeviceMesh:
    def __init__(self, device_type, shape=(1,), mesh_dim_names=None, root=None):
        self.device_type = device_type
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (1,)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names is not None else None
        self.ndim = len(self.shape)
        self.root = root
        self.flattened = {}

    def __getitem__(self, name):
        names = self.mesh_dim_names or ()
        wanted = (name,) if isinstance(name, str) else tuple(name)
        if all([each in names for each in wanted]):
            return DeviceMesh(self.device_type, [self.shape[names.index(each)] for each in wanted], wanted, self.root or self)
        return (self.root or self).flattened.get(name, self)

    def size(self, dim=None):
        total = 1
        for each in self.shape:
            total *= each
        return total if dim is None else self.shape[dim]

    def get_rank(self):
        return 0

    get_local_rank = get_coordinate = get_rank

    def get_group(self, *args):
        return None

    def _flatten(self, mesh_dim_name=None):
        made = DeviceMesh(self.device_type, (self.size(),), (mesh_dim_name,), self.root)
        (self.root or self).flattened[mesh_dim_name] = made
        return made


def init_device_mesh(device_type, mesh_shape=(1,), *, mesh_dim_names=None):
    mesh = DeviceMesh(device_type, mesh_shape, mesh_dim_names)
    noted_devices(mesh.size())
    return mesh
