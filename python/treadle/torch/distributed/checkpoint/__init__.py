"""torch.distributed.checkpoint: state dictionaries in a folder. Each process holds all values here, so rank 0 writes
one file by torch.save, and each process reads it. Folders of sharded files that PyTorch wrote cannot be read."""

import os

from ... import _modules, futures
from ... import distributed as _dist
from ..._prim import Tensor
from ...serialization import load as _load
from ...serialization import save as _save

_FILE = "__0_0.distcp"


class FileSystemWriter:
    """A folder that save() writes to; options of PyTorch's writer are accepted."""

    def __init__(self, path, single_file_per_rank=True, sync_files=True, thread_count=1, **options):
        self.path = os.fspath(path)


class FileSystemReader:
    """A folder that load() reads."""

    def __init__(self, path, **options):
        self.path = os.fspath(path)


def _path(checkpoint_id, storage):
    if checkpoint_id is None and storage is None:
        raise ValueError("torch.distributed.checkpoint: give checkpoint_id or a FileSystemWriter or Reader")
    return os.fspath(checkpoint_id) if checkpoint_id is not None else storage.path


def _alone(no_dist):
    return no_dist or not _dist.is_initialized()


def _stateful(value):
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict")


def _plain(state_dict):
    """The dictionary, with a state_dict() in place of each object that has one."""
    return {k: v.state_dict() if _stateful(v) else v for k, v in state_dict.items()}


def save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False,
    use_collectives=True,
):  # fmt: skip
    """Write a dictionary to a folder. It may hold tensors, plain values, modules, optimizers, and dictionaries of
    these. All processes call it, and rank 0 writes."""
    path = _path(checkpoint_id, storage_writer)
    if _alone(no_dist) or _dist.get_rank(process_group) == 0:
        os.makedirs(path, exist_ok=True)
        _save(_plain(state_dict), os.path.join(path, _FILE + ".part"))
        os.replace(os.path.join(path, _FILE + ".part"), os.path.join(path, _FILE))
    if not _alone(no_dist):
        _dist.barrier(process_group)


def async_save(state_dict, **options):
    """save(), which has finished when this returns. The result is a Future that is done."""
    made = futures.Future()
    made.set_result(save(state_dict, **{k: v for k, v in options.items() if not k.startswith("async_")}))
    return made


def _copied(into, found, path):
    """Copy the values of found into the tensors of `into`. Values that are no tensors are replaced. Raises ValueError
    for another shape, RuntimeError for a missing value."""
    for key, value in list(into.items()):
        where = f"{path}.{key}" if path else str(key)
        if key not in found:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {where}.")
        new = found[key]
        if isinstance(value, Tensor):
            if tuple(value.shape) != tuple(new.shape):
                raise ValueError(
                    f"Size mismatch between saved {tuple(new.shape)} and current: {tuple(value.shape)} for {where}"
                )
            value.detach().copy_(new)
        elif _stateful(value):
            value.load_state_dict(new)
        elif isinstance(value, dict) and isinstance(new, dict):
            _copied(value, new, where)
        else:
            into[key] = new


def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False):
    """Read a folder into the tensors of state_dict, in place. Raises FileNotFoundError if save() wrote no such folder.
    """
    path = os.path.join(_path(checkpoint_id, storage_reader), _FILE)
    if not os.path.exists(path):
        raise FileNotFoundError(f"torch.distributed.checkpoint.load: save() has not written {path}")
    _copied(state_dict, _load(path), "")


def save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """save() by its older name."""
    return save(state_dict, storage_writer=storage_writer, process_group=process_group, no_dist=no_dist)


def load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """load() by its older name."""
    return load(state_dict, storage_reader=storage_reader, process_group=process_group, no_dist=no_dist)


__getattr__, __dir__ = _modules.refusing("torch.distributed.checkpoint")
