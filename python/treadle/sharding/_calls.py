"""Calls of functions with sharded arrays among their arguments.

`call` asks the table of rules. What has no rule, or what its rule declines, runs on the first device with arrays that
are brought there as a whole, and its results are replicated from there.
"""

import numpy

from .. import ALIASES, _core
from .._core import ndarray
from .._vmap._array import function
from ._array import ShardedArray, replicated
from ._expression import settle
from ._mesh import Mesh, moved

RULES = {}  # name: the function that is called for it, f(name, fn, *args, **kwargs); NotImplemented: there is no way


def rule(names):
    """Enter a function into the table under several names."""

    def put(f):
        RULES.update(dict.fromkeys(names.split(), f))
        return f

    return put


def apply(name, *args, **kwargs):
    """Call treadle's function of that name."""
    return call(name, function(name), args, kwargs)


def made(name, /, *args, **kwargs):
    """Call treadle's function of that name, which makes an array on a mesh. C calls it."""
    return call(name, function(name), args, kwargs)


def leaves(x, found=None):
    """The sharded arrays in arguments, also inside of tuples, lists and dicts."""
    found = [] if found is None else found
    if type(x) is ShardedArray:
        found.append(x)
    elif type(x) in (tuple, list):
        for item in x:
            leaves(item, found)
    elif type(x) is dict:
        for item in x.values():
            leaves(item, found)
    return found


def asked(args, kwargs):
    """Do arguments have a sharded array, or a mesh as their device?"""
    return bool(leaves(args) or leaves(kwargs)) or type(kwargs.get("device")) is Mesh


def one_mesh(arrays):
    """The mesh of sharded arrays. Raises ValueError where they lie on several."""
    mesh = arrays[0].mesh
    for a in arrays[1:]:
        if a.mesh is not mesh and a.mesh != mesh:
            raise ValueError(f"arrays lie on {mesh!r} and on {a.mesh!r}: move one of them by to_device()")
    return mesh


def call(name, fn, args, kwargs):
    """Call fn with sharded arrays among the arguments, by the rule of that name."""
    found = leaves((args, kwargs))
    mesh = one_mesh(found) if found else kwargs["device"]
    out = kwargs.pop("out", None)
    if out is not None and not (isinstance(out, tuple) and all(o is None for o in out)):
        return _into(fn, out, call(name, fn, args, kwargs))
    f = RULES.get(ALIASES.get(name, name))
    if all(x.axis is None for x in found) and name not in ANYWHERE and found:
        return together(mesh, found, name, fn, args, kwargs)
    if f is not None:
        r = f(name, fn, *args, **kwargs)
        if r is not NotImplemented:
            return r
    return whole(mesh, name, fn, args, kwargs)


ANYWHERE = set("getitem setitem asarray array asanyarray ascontiguousarray copy asnumpy evaluate zeros_like ones_like "
               "empty_like full_like shape ndim size".split())  # fmt: skip


def together(mesh, found, name, fn, args, kwargs):
    """Call fn with replicated arrays, on the device where the first one is. Views of them stay views."""
    i = found[0]._main[0]
    if name in WRITERS:
        settle()
        found[0]._writes[0] += 1
    r = fn(*placed(args, i, mesh, name), **placed(kwargs, i, mesh, name))
    shows = isinstance(r, ndarray) and _core._same_storage(r, found[0]._main[1])
    return replicated(mesh, i, r, found[0]._writes) if shows else results(mesh, r)


def whole(mesh, name, fn, args, kwargs):
    """Call fn on the first device, with arrays that are there as a whole. Its results are replicated from there."""
    written = args[0] if name in WRITERS else None
    if written is not None:
        settle()
    kwargs = {**kwargs, "device": mesh[0]} if type(kwargs.get("device")) is Mesh else kwargs
    args, kwargs = placed(args, 0, mesh, name), placed(kwargs, 0, mesh, name)
    r = fn(*args, **kwargs)
    if written is not None and args[0] is not written:
        written[...] = replicated(mesh, 0, args[0])
    return results(mesh, r)


WRITERS = set("copyto fill_diagonal place put put_along_axis putmask ufunc.at".split())


def placed(x, i, mesh, what):
    """Arguments with all arrays on the mesh's device i; what holds them is made anew."""
    if type(x) is ShardedArray:
        return x.on(i)
    if isinstance(x, ndarray):
        return moved(x, mesh[i], what)
    if type(x) in (tuple, list):
        return type(x)(placed(item, i, mesh, what) for item in x)
    return {k: placed(item, i, mesh, what) for k, item in x.items()} if type(x) is dict else x


def results(mesh, r):
    """What a function has returned, its arrays as replicated ones."""
    if isinstance(r, ndarray):
        return replicated(mesh, mesh.devices.index(r.device), r)
    if isinstance(r, tuple) and hasattr(r, "_fields"):
        return type(r)(*(results(mesh, item) for item in r))
    return type(r)(results(mesh, item) for item in r) if type(r) in (tuple, list) else r


def _into(fn, out, result):
    if isinstance(out, tuple):
        found = result if isinstance(result, tuple) else (result,)
        given = tuple(r if o is None else _into(fn, o, r) for o, r in zip(out, found, strict=True))
        return given if len(given) > 1 else given[0]
    if hasattr(fn, "nin") and not numpy.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{fn.__name__}: the result's dtype {result.dtype} cannot be cast to out's, {out.dtype}, by the rule "
            "'same_kind'"
        )
    if out.shape != result.shape:
        raise ValueError(f"{fn.__name__}: out has shape {out.shape}, and the result {result.shape}")
    if type(out) is not ShardedArray:
        result = result.to_device(out.device) if isinstance(out, ndarray) else result.get()
    out[...] = result
    return out
