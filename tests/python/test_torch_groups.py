"""Stores, meshes, checkpoints, SyncBatchNorm and data parallelism by fsdp's names, in processes of a group."""

import collections
import contextlib
import os
import pickle
import threading
import time
import types

import numpy as np
import pytest
import torch_group_side as side

import treadle as td
import treadle.torch as torch
from treadle.torch.distributed import _objects

dist = torch.distributed


def _spawn(f, n, *args):
    return td.distributed.spawn(f, n, *args, devices="cpu", timeout=120)


def _stores(tmp_path):
    served = dist.TCPStore("127.0.0.1", 0, 1, True)
    yield served, dist.TCPStore("127.0.0.1", served.port, is_master=False)
    yield dist.FileStore(tmp_path / "store"), dist.FileStore(tmp_path / "store")
    same = dist.HashStore()
    yield same, same
    yield dist.PrefixStore("a", same), dist.PrefixStore("a", same)


def test_stores(tmp_path):
    for one, other in _stores(tmp_path):
        one.set("key", "v")
        assert other.get("key") == b"v" and other.check(["key"]) and not other.check(["key", "none"])
        assert one.add("count", 5) == 5 and other.add("count", -2) == 3 and one.get("count") == b"3"
        assert other.compare_set("key", "x", "y") == b"v" and other.compare_set("key", "v", "y") == b"y"
        assert one.get("key") == b"y" and one.compare_set("new", "", "z") == b"z"
        one.append("key", "!")
        assert other.multi_get(["key", "new"]) == [b"y!", b"z"]
        assert other.delete_key("key") and not other.delete_key("key")
        threading.Timer(0.05, one.set, ("late", b"\0\1")).start()
        assert other.get("late") == b"\0\1"
        begun = time.monotonic()
        with pytest.raises(dist.DistStoreError, match="never"):
            other.wait(["never"], 0.1)
        assert time.monotonic() - begun < 5
    assert dist.HashStore().num_keys() == 0
    with pytest.raises(dist.DistStoreError, match="no answer"):
        dist.TCPStore("127.0.0.1", 1, is_master=False, timeout=0.1)


def test_prefixes_keep_apart():
    store = dist.HashStore()
    dist.PrefixStore("a", store).set("k", "1")
    assert store.get("a/k") == b"1" and not dist.PrefixStore("b", store).check(["k"])


class Theirs:
    pass


def test_objects_of_peers_that_have_proven_nothing(monkeypatch):
    """Plain values, tensors and arrays are taken; what could run code is refused, with what to set."""
    plain = [
        {"a": [1, 2.5, None, "x", b"y", 1j, {3}, range(2)]},
        collections.OrderedDict(b=(True, slice(1, 2))),
        np.arange(3.0),
        np.float32(2),
        torch.arange(3),
        torch.float16,
        ValueError,
        torch.nn.Linear(2, 1).state_dict(),
    ]
    monkeypatch.setattr(_objects._process, "proven", lambda: False)
    for thing in plain:
        assert repr(_objects.loaded(_objects.dumped(thing))) == repr(thing)
    for data in [_objects.dumped(Theirs()), pickle.dumps(os.system), b"cos\nsystem\n(S'true'\ntR."]:
        with pytest.raises(pickle.UnpicklingError, match="set TREADLE_JOB_TOKEN"):
            _objects.loaded(data)
    monkeypatch.setattr(_objects._process, "proven", lambda: True)
    assert type(_objects.loaded(_objects.dumped(Theirs()))) is Theirs


def test_a_job_without_a_token_has_proven_nothing(monkeypatch):
    monkeypatch.setitem(_objects._process._state, "world", types.SimpleNamespace(size=2))
    monkeypatch.delenv("TREADLE_JOB_TOKEN", raising=False)
    assert not _objects._process.proven()
    monkeypatch.setenv("TREADLE_JOB_TOKEN", "a secret")
    assert _objects._process.proven()


def test_tcp_store_takes_no_other_guests():
    import socket

    store = dist.TCPStore("127.0.0.1", 0, 1, True)
    with socket.create_connection(("127.0.0.1", store.port)) as guest:
        guest.sendall(b"GET / HTTP/1.1\r\n" + b"x" * 64)
        guest.settimeout(5)
        with contextlib.suppress(ConnectionResetError):  # it is closed, with what it sent unread or not
            while guest.recv(64):  # the challenge, and a refusal
                pass
    store.set("k", "still served")
    assert store.get("k") == b"still served"


def test_meshes():
    for rank, (sums, place, local, row, size) in enumerate(_spawn(side.mesh, 4)):
        i, k = divmod(rank, 2)
        assert sums == [k + (k + 2), 2 * i + 2 * i + 1] and place == [i, k] and local == k
        assert row == [2 * i, 2 * i + 1] and size == 2
    with pytest.raises(RuntimeError, match="unique"):
        dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "a"))


@pytest.mark.parametrize("how", ["wrapped", "sharded"])
def test_fsdp_trains_as_one_process(how):
    found = _spawn(side.trained, 2, how)
    start, ends, names = found[0]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    with torch.no_grad():
        for p, value in zip(net.parameters(), start, strict=True):
            p.copy_(torch.from_numpy(value))
    x = torch.sin(torch.arange(12.0).reshape(4, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    (net(x) ** 2).mean().backward()
    optimizer.step()
    for p, a, b in zip(net.parameters(), ends, found[1][1], strict=True):
        np.testing.assert_allclose(a, p.detach().numpy(), rtol=2e-5, atol=1e-6)
        np.testing.assert_array_equal(a, b)


def test_fsdp_refuses_what_it_would_not_do():
    from treadle.torch.distributed import fsdp

    net = torch.nn.Linear(1, 1)
    for given in (
        {"mixed_precision": fsdp.MixedPrecision(param_dtype=torch.bfloat16)},
        {"cpu_offload": fsdp.CPUOffload(True)},
    ):
        with pytest.raises(NotImplementedError, match="autocast|offload"):
            fsdp.FullyShardedDataParallel(net, **given)
    with pytest.raises(NotImplementedError, match="autocast"):
        fsdp.fully_shard(net, mp_policy=fsdp.MixedPrecisionPolicy(reduce_dtype=torch.float16))


def test_checkpoints_of_all_processes(tmp_path):
    (step, first), (other_step, second) = _spawn(side.saved, 2, str(tmp_path / "state"))
    assert step == other_step == 3 and np.array_equal(first, second) and np.any(first)


def test_checkpoints_tell_what_does_not_fit(tmp_path):
    from treadle.torch.distributed import checkpoint
    from treadle.torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    net = torch.nn.Linear(2, 3)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    model, optim = get_state_dict(net, optimizer)
    future = checkpoint.async_save({"model": model, "optim": optim}, checkpoint_id=tmp_path)
    assert future.done()
    with pytest.raises(RuntimeError, match="Missing key.*other"):
        checkpoint.load({"other": torch.ones(1)}, storage_reader=checkpoint.FileSystemReader(tmp_path))
    with pytest.raises(ValueError, match="Size mismatch.*weight"):
        checkpoint.load({"model": {"weight": torch.ones(1)}}, checkpoint_id=tmp_path)
    with pytest.raises(FileNotFoundError, match="save"):
        checkpoint.load({}, checkpoint_id=tmp_path / "none")
    with pytest.raises(ValueError, match="checkpoint_id"):
        checkpoint.save({})
    again = torch.nn.Linear(2, 3)
    adam = torch.optim.Adam(again.parameters())
    set_state_dict(again, adam, model_state_dict=model, optim_state_dict=optim)
    assert torch.equal(again.weight, net.weight) and adam.state_dict()["state"][0]["step"] == 1


def test_sync_batch_norm_is_that_of_the_whole_batch():
    found = _spawn(side.norm, 2)
    layer = torch.nn.BatchNorm1d(2)
    x = torch.cos(torch.arange(24.0).reshape(4, 2, 3)).requires_grad_()
    y = layer(x)
    (y * torch.arange(24.0).reshape(4, 2, 3)).sum().backward()
    for k, want in enumerate((y, x.grad)):
        np.testing.assert_allclose(np.concatenate([f[k] for f in found]), want.detach().numpy(), rtol=1e-4, atol=1e-4)
    for k, want in ((2, layer.running_mean), (3, layer.running_var)):
        np.testing.assert_allclose(found[0][k], want.numpy(), rtol=1e-5)
        np.testing.assert_array_equal(found[0][k], found[1][k])
