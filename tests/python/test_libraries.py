"""Other libraries with treadle's arrays: Dask's chunks, pandas, matplotlib, files; memory that PyTorch, JAX, CuPy and Numba
share with it, shown by pointers."""

import importlib
import io

import numpy as np
import pytest

import treadle as td

# ---- Dask ----

DASK = """
a + 1 | 2 * a | a.sum() | a.sum(axis=0) | a.mean(axis=1) | a.std() | a.var(axis=0) | a.max() | a.argmax(axis=0) | a.prod(axis=0) | (a > 0.5).any(axis=0) | a.T | a @ a.T | da.dot(a, a.T) | da.tensordot(a, a.T, axes=1) |
a[3:20:4, ::2] | a[:, 3] | a[[1, 5, 9]] | a[::-1] | a[a > 0.5] | da.concatenate([a, a], axis=1) | da.stack([a, a]) | a.rechunk((24, 5)) | a.reshape(-1) | a.ravel() | np.sin(a) | np.exp(a) + np.log(a + 1) | da.where(a > 0.5, a, 0) |
da.maximum(a, 0.5) | a.map_blocks(lambda b: b * 2) | a.map_overlap(lambda b: b + 1, depth=1, boundary='reflect') | da.blockwise(lambda x: x * 3, 'ij', a, 'ij', dtype=a.dtype) | a.cumsum(axis=0) | a.astype('f4') | a.clip(0.2, 0.8) |
da.moveaxis(a, 0, 1) | da.roll(a, 3, axis=0) | da.flip(a, 0) | da.expand_dims(a, 0) | da.broadcast_to(a[0], (5, 16)) | da.repeat(a, 2, axis=0) | da.tile(a, (2, 1)) | da.pad(a, 1) | da.diff(a, axis=0) | da.einsum('ij,kj->ik', a, a) |
da.linalg.norm(a) | abs(da.linalg.svd(a.rechunk((8, 16)))[1]) | da.fft.fft(a.rechunk((24, 16)), axis=0) | da.histogram(a, bins=5, range=(0, 1))[0] | da.percentile(a[:, 0], [50]) | da.unique((a * 4).astype(int)) | da.topk(a, 3, axis=0) |
da.isnan(a) | da.nanmean(a, axis=0) | da.median(a, axis=0) | da.average(a, axis=0) | da.cov(a) | da.tril(a[:16]) | da.diag(a[0]) | da.digitize(a, np.array([0.2, 0.5])) | da.bincount((a[:, 0] * 4).astype(int), minlength=4) | da.outer(a[0], a[1]) |
da.ones_like(a) | da.full_like(a, 3.0) | da.round(a, 1) | da.count_nonzero(a) | da.apply_along_axis(lambda r: r.sum(), 1, a) | da.coarsen(np.sum, a, {0: 2, 1: 2}) | da.select([a > 0.5], [a], 0) | da.gradient(a, axis=0) | da.vstack([a, a]) | a.vindex[[1, 2], [3, 4]]
"""


@pytest.fixture
def da():
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield pytest.importorskip("dask.array")


def test_dask_arrays_of_our_chunks(da):
    td.vmap(lambda x: x + 1)(td.ones(2))  # the package's functions look for mapped arrays from now on
    n = np.random.default_rng(0).random((24, 16))
    ours = da.from_array(td.asarray(n), chunks=(9, 7), asarray=False)
    theirs = da.from_array(n, chunks=(9, 7))
    td.fallbacks(clear=True)
    for text in (t.strip() for t in DASK.replace("\n", " ").split("|")):
        r, want = (eval(text, {"a": a, "da": da, "np": np}).compute() for a in (ours, theirs))
        assert isinstance(r, td._core.ndarray) or not isinstance(want, np.ndarray), text
        np.testing.assert_allclose(np.asarray(r), want, rtol=1e-9, atol=1e-12, err_msg=text)
    assert not td.fallbacks()


def test_dask_arrays_on_all_devices(da, dev):
    t = td.arange(12.0).reshape(4, 3)
    a = da.from_array(t, chunks=(2, 3), asarray=False)
    for lazy, want in ((a * 2 + 1, t * 2 + 1), (a.sum(axis=0), t.sum(0)), (a @ a.T, t @ t.T), (da.concatenate([a, a])[::3], td.concatenate([t, t])[::3])):
        r = lazy.compute()
        assert r.device == dev and r.tolist() == want.tolist()
    assert (t + a).compute().tolist() == (a + t).compute().tolist() == (2 * t).tolist() and isinstance(t + a, da.Array)


# ---- pandas ----


@pytest.fixture
def pd():
    return pytest.importorskip("pandas")


def test_pandas_takes_arrays(pd, dev):
    n = np.random.default_rng(0).random((6, 3))
    t, s, df = td.asarray(n[:, 0]), pd.Series(n[:, 1]), pd.DataFrame(n, columns=list("abc"))
    space = {"pd": pd, "np": np, "s": s, "df": df}
    for text in """pd.Series(t) | pd.Series(t, dtype='f4') | pd.DataFrame(t2) | pd.DataFrame({'a': t, 'b': t * 2}) | s + t | t + s | t - s | s * t | t / s | s > t | t > s | t == s | np.add(t, s) | np.add(s, t) | df['a'] + t |
                   df.assign(d=t) | df.iloc[i] | s.where(t > 0.5, 0) | pd.Index(t) | pd.cut(t, 3) | pd.isna(t) | pd.concat([pd.Series(t), s]) | s.dot(t) | pd.DataFrame(t2).groupby(0).sum() | pd.Series(0.0, index=t) | pd.Series(t).rolling(2).mean()""".split("|"):  # fmt: skip
        ours, theirs = (eval(text.strip(), {**space, "t": a(n[:, 0]), "t2": a(n), "i": a(np.array([0, 2, 1]))}) for a in (td.asarray, np.asarray))
        assert type(ours) is type(theirs), text
        if isinstance(theirs, (pd.Series, pd.DataFrame)):
            (pd.testing.assert_series_equal if isinstance(theirs, pd.Series) else pd.testing.assert_frame_equal)(ours, theirs)
        else:
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    df["d"] = t
    df.loc[:, "a"] = t
    assert (df["a"] == n[:, 0]).all() and (df["d"] == n[:, 0]).all()
    assert td.asarray(s).device == dev and td.asarray(df).shape == (6, 4) and td.asarray(s).tolist() == s.tolist()


# ---- matplotlib ----

PLOTS = """plot(t) | plot(t, t * 2, 'o-') | scatter(t, t, c=t, s=t * 20) | imshow(im) | hist(t, bins=4) | hist(im, bins=3) | bar(t, t) | errorbar(t, t, yerr=t) | fill_between(t, t, t + 1) | pcolormesh(im) | contour(im) | boxplot(t) |
violinplot(t) | stem(t) | step(t, t) | quiver(t, t, t, t) | hist2d(t, t) | hexbin(t, t) | matshow(im) | set_xlim(t[0], t[0] + 2) | axhline(t[0]) | text(t[0], t[1], 'x') | set_xticks(t) | semilogy(t) | stackplot(t, im.T[:, :6]) |
pie(t) | vlines(t, 0, 1) | stairs(t[:5], t) | streamplot(td.arange(6.0), td.arange(6.0), im, im) | plot(im) | imshow((im * 255).astype('u1')) | plot(t.astype('float16')) | plot(t.astype('bfloat16'))"""


def test_matplotlib_draws_arrays(dev):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plt = importlib.import_module("matplotlib.pyplot")
    rng = np.random.default_rng(0)
    t, im = td.asarray(rng.random(6)), td.asarray(rng.random((6, 6)))
    for text in (p.strip() for p in PLOTS.replace("\n", " ").split("|")):
        fig = plt.figure(figsize=(1, 1))
        eval(f"ax.{text}", {"ax": fig.add_subplot(), "t": t, "im": im, "td": td})
        plt.close(fig)
    fig, ax = plt.subplots(figsize=(1, 1))
    pictures = []
    for a in (im, im.get()):
        ax.clear()
        ax.imshow(a)
        ax.plot(t if a is im else t.get())
        fig.canvas.draw()
        pictures.append(np.asarray(fig.canvas.buffer_rgba()).copy())
    plt.close(fig)
    assert (pictures[0] == pictures[1]).all()
    plt.imsave(io.BytesIO(), im)


# ---- files ----


def test_numpys_files(dev, tmp_path):
    t = td.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "a.npy", t)
    np.savez(tmp_path / "b.npz", t, second=t.T)
    np.savez_compressed(tmp_path / "c.npz", x=t)
    assert np.load(tmp_path / "a.npy").tolist() == t.tolist() and td.load(tmp_path / "a.npy").device == dev
    with np.load(tmp_path / "b.npz") as z:
        assert z["arr_0"].tolist() == t.tolist() and z["second"].tolist() == t.T.tolist()
    assert np.load(tmp_path / "c.npz")["x"].tolist() == t.tolist()


# ---- memory in common ----


def pointer(t):
    return (t.__array_interface__ if t.device.kind == "cpu" else t.__cuda_array_interface__)["data"][0]



LIBRARIES = {  # name: (where, module, take, pointer of its array, make one with these values)
    "numpy": ("cpu", "numpy", lambda m, t: m.from_dlpack(t), lambda x: x.ctypes.data, lambda m, n: n.copy()),
    "torch": ("cpu", "torch", lambda m, t: m.from_dlpack(t), lambda x: x.data_ptr(), lambda m, n: m.asarray(n.copy())),
    "torch on a GPU": ("cuda", "torch", lambda m, t: m.from_dlpack(t), lambda x: x.data_ptr(), lambda m, n: m.asarray(n).to("cuda")),
    "torch by interface": ("cuda", "torch", lambda m, t: m.as_tensor(t, device="cuda"), lambda x: x.data_ptr(), lambda m, n: m.asarray(n).to("cuda")),
    "jax": ("cpu", "jax.dlpack", lambda m, t: m.from_dlpack(t), lambda x: x.unsafe_buffer_pointer(), lambda m, n: importlib.import_module("jax.numpy").asarray(n)),
    "jax on a GPU": ("cuda", "jax.dlpack", lambda m, t: m.from_dlpack(t), lambda x: x.unsafe_buffer_pointer(), lambda m, n: importlib.import_module("jax.numpy").asarray(n)),
    "cupy": ("cuda", "cupy", lambda m, t: m.from_dlpack(t), lambda x: x.data.ptr, lambda m, n: m.asarray(n)),
    "cupy by interface": ("cuda", "cupy", lambda m, t: m.asarray(t), lambda x: x.data.ptr, lambda m, n: m.asarray(n)),
    "numba": ("cuda", "numba.cuda", lambda m, t: m.as_cuda_array(t), lambda x: x.device_ctypes_pointer.value, lambda m, n: m.to_device(n)),
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_memory_is_shared_both_ways(name):
    where, module, take, at, make = LIBRARIES[name]
    if not any(d.kind == where for d in td.devices()):
        pytest.skip("there is no GPU")
    try:
        lib = importlib.import_module(module)
    except ImportError:
        pytest.skip(f"{module} is not installed")
    n = np.arange(32, dtype="float32").reshape(4, 8)
    with td.device(where):
        for t in (td.asarray(n) + 0, td.asarray(n) * 1):
            other = take(lib, t)
            assert at(other) == pointer(t)
            np.testing.assert_array_equal(np.asarray(other.cpu() if hasattr(other, "cpu") else other.copy_to_host() if hasattr(other, "copy_to_host") else other.get() if hasattr(other, "get") else other), n)
        theirs = make(lib, n)
        share = td.asarray if "interface" in name or name == "numba" else td.from_dlpack
        ours = share(theirs, copy=False) if share is td.asarray else share(theirs)
        assert pointer(ours) == at(theirs) and ours.tolist() == n.tolist()
        if not name.startswith("jax"):  # its arrays do not change
            ours[0, 0] = 50
            td.synchronize()
            assert float(theirs[0, 0]) == 50
