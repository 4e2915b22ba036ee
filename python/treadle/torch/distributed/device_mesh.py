"""torch.distributed.device_mesh: processes arranged in rows and columns, with a group for each row and column."""

import math

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """mesh: an array of the ranks of all processes, of any number of dims. All processes create it.

    mesh["dp"] is the line along the named dim that contains this process; get_group("dp") is its group. Raises
    RuntimeError if the ranks are not those of the processes.
    """

    def __init__(self, device_type, mesh, *, mesh_dim_names=None, _groups=None, **unused):
        self.device_type = device_type
        self.mesh = mesh if isinstance(mesh, torch.Tensor) else torch.tensor(mesh, dtype=torch.int64)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if self.mesh_dim_names is not None and len(self.mesh_dim_names) != self.mesh.dim():
            raise RuntimeError(
                f"mesh_dim_names {self.mesh_dim_names} do not name the {self.mesh.dim()} dims of the mesh"
            )
        self._groups = self._made() if _groups is None else _groups

    def _made(self):
        """The groups, one along each dim, that contain this process. All processes create all groups in the same order.
        """
        dist, found = torch.distributed, []
        ranks = sorted(self.mesh.reshape(-1).tolist())
        if ranks != list(range(dist.get_world_size())):
            raise RuntimeError(f"DeviceMesh: the ranks {ranks} are not those of {dist.get_world_size()} processes")
        for dim in range(self.mesh.dim()):
            rows = self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist()
            made = [dist.new_group(row) for row in rows]
            found.append(next(g for g, row in zip(made, rows, strict=True) if dist.get_rank() in row))
        return found

    shape = property(lambda self: tuple(self.mesh.shape), doc="The lengths of the dims.")
    ndim = property(lambda self: self.mesh.dim(), doc="The number of dims.")

    def size(self, mesh_dim=None):
        """The number of processes, or the extent of a dim."""
        return math.prod(self.shape) if mesh_dim is None else self.shape[self._dim(mesh_dim)]

    def _dim(self, dim):
        if isinstance(dim, str):
            if self.mesh_dim_names is None or dim not in self.mesh_dim_names:
                raise KeyError(f"DeviceMesh has the dims {self.mesh_dim_names}, not {dim!r}")
            return self.mesh_dim_names.index(dim)
        return dim

    def _one(self, mesh_dim):
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(f"DeviceMesh has {self.ndim} dims: say which, by number or name")
        return self._dim(0 if mesh_dim is None else mesh_dim)

    def get_group(self, mesh_dim=None):
        """The group along a dim that contains this process."""
        return self._groups[self._one(mesh_dim)]

    def get_all_groups(self):
        """The groups along all dims that contain this process."""
        return list(self._groups)

    def get_local_rank(self, mesh_dim=None):
        """This process's index along a dim."""
        return torch.distributed.get_rank(self.get_group(mesh_dim))

    def get_rank(self):
        """This process's rank."""
        return torch.distributed.get_rank()

    def get_coordinate(self):
        """This process's index along each dim. None: the mesh does not contain it."""
        found = (self.mesh == self.get_rank()).nonzero().tolist()
        return found[0] if found else None

    def __getitem__(self, names):
        """The part of the mesh along the named dim, or dims, that contains this process."""
        names = (names,) if isinstance(names, str) else tuple(names)
        dims, at = [self._dim(n) for n in names], self.get_coordinate()
        index = tuple(slice(None) if d in dims else at[d] for d in range(self.ndim))
        part = self.mesh[index]
        kept = [d for d in range(self.ndim) if d in dims]
        part = part.permute([kept.index(d) for d in dims]) if len(dims) > 1 else part
        groups = [self._groups[d] for d in dims]
        return DeviceMesh(self.device_type, part, mesh_dim_names=names, _groups=groups)

    def __eq__(self, other):
        return (
            isinstance(other, DeviceMesh)
            and self.mesh_dim_names == other.mesh_dim_names
            and self.mesh.tolist() == other.mesh.tolist()
        )

    def __hash__(self):
        return hash((self.device_type, self.shape, self.mesh_dim_names))

    def __repr__(self):
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}, mesh_dim_names={self.mesh_dim_names})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """A DeviceMesh of the ranks in order. It starts the group of all processes if that has not been done.

    Raises RuntimeError if the names do not fit the shape.
    """
    names = None if mesh_dim_names is None else tuple(mesh_dim_names)
    if names is not None and (len(set(names)) != len(names) or len(names) != len(mesh_shape)):
        raise RuntimeError(f"Each mesh_dim_name must be unique, one for each of {tuple(mesh_shape)}; got {names}")
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo" if device_type == "cpu" else None)
    ranks = torch.arange(math.prod(mesh_shape)).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=names)


__dir__ = _dir_of(__name__)
