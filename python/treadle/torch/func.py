"""torch.func: functions that turn functions into their derivatives, by backward passes: grad, vjp, jvp, jacrev, jacfwd,
hessian, linearize. Also vmap."""

import functools

from .. import _core
from . import _modules, _vmap, autograd
from ._prim import Tensor
from ._tensor._parts import stack
from ._vmap_item import Item as _Item
from ._vmap_item import own
from .autograd import functional


def _picked(args, argnums):
    return tuple(args[i] for i in argnums) if isinstance(argnums, tuple) else (args[argnums],)


def _put(args, argnums, values):
    args = list(args)
    for i, v in zip(argnums if isinstance(argnums, tuple) else (argnums,), values, strict=True):
        args[i] = v
    return args


def _leaves(o, found):
    """o with views of its tensors, to differentiate with respect to. Returns these views in order, too."""
    if isinstance(o, Tensor):
        o = own(o)
        leaf = o.view_as(o) if o.requires_grad else o.detach().requires_grad_()
        found.append(leaf)
        return leaf
    if isinstance(o, dict):
        return {k: _leaves(v, found) for k, v in o.items()}
    return type(o)(_leaves(v, found) for v in o) if isinstance(o, (tuple, list)) else o


def _shaped(o, values):
    """o with the next values of an iterator in place of its tensors."""
    if isinstance(o, Tensor):
        return next(values)
    if isinstance(o, dict):
        return {k: _shaped(v, values) for k, v in o.items()}
    return type(o)(_shaped(v, values) for v in o) if isinstance(o, (tuple, list)) else o


def _zeros(found, leaves):
    return (x.detach().new_zeros(x.shape) if g is None else g for g, x in zip(found, leaves, strict=True))


class _Outside:
    """Has a derivative to be differentiable? Yes if another function of this module is running, or if what the function
    computed depends on tensors from outside that take gradients."""

    def __init__(self):
        self.since, self.mode = _core._grad_serial(), _core._grad_mode()

    def __call__(self, outputs, leaves):
        if _depth[0] > 1 or not self.mode:
            return _depth[0] > 1
        live = tuple(_held(t) for t in outputs if t.requires_grad)
        reached = _core._grad_reach(live, self.since)
        own = {id(_held(t)) for t in leaves}
        return reached is None or any(id(t) not in own for t in reached)


def _held(t):
    """The tensor of all items for one of vmap's items, else t."""
    while isinstance(t, _Item):
        t = t._value
    return t


_depth = [0]


def _counted(f):
    @functools.wraps(f)
    def inside(*args, **kwargs):
        _depth[0] += 1
        try:
            return f(*args, **kwargs)
        finally:
            _depth[0] -= 1

    return inside


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (the gradient of func with respect to its arguments argnums, func's value)."""

    @_counted
    def both(*args, **kwargs):
        leaves, outside = [], _Outside()
        given = _picked(args, argnums)
        changed = [_leaves(o, leaves) for o in given]
        with autograd.enable_grad():
            r = func(*_put(args, argnums, changed), **kwargs)
        value, aux = r if has_aux else (r, None)
        if value.numel() != 1 or value.ndim:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                f"{value.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        graph = outside([value, *_listed(aux)], leaves)
        found = (
            autograd.grad(value, leaves, create_graph=graph, allow_unused=True)
            if value.requires_grad
            else [None] * len(leaves)
        )
        values = _zeros(found, leaves)
        grads = tuple(_shaped(o, values) for o in given)
        grads = grads if isinstance(argnums, tuple) else grads[0]
        value, aux = (value, aux) if graph else (value.detach(), _detached(aux))
        return (grads, (value, aux)) if has_aux else (grads, value)

    return both


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of func with respect to its arguments argnums. func's value is one number.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def slope(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return slope


def vjp(func, *primals, has_aux=False):
    """(outputs, a function from the outputs' gradients to those of primals)."""
    leaves, outside = [], _Outside()
    changed = [_leaves(o, leaves) for o in primals]
    with autograd.enable_grad():
        r = func(*changed)
    out, aux = r if has_aux else (r, None)
    outs = _listed(out)
    graph = outside(outs, leaves)

    def back(*cotangents):
        given = []
        _flat(cotangents if len(cotangents) > 1 or not isinstance(out, Tensor) else cotangents[0], given)
        again = graph or (_core._grad_mode() and any(g.requires_grad for g in given))
        live = [(t, g) for t, g in zip(outs, given, strict=True) if t.requires_grad]
        found = [None] * len(leaves)
        if live:
            ts, gs = zip(*live, strict=True)
            found = autograd.grad(ts, leaves, gs, retain_graph=True, create_graph=again, allow_unused=True)
        values = _zeros(found, leaves)
        return tuple(_shaped(o, values) for o in primals)

    shown = _shaped(out, iter([t if graph else t.detach() for t in outs]))
    return (shown, back, aux if graph else _detached(aux)) if has_aux else (shown, back)


def _flat(o, found):
    if isinstance(o, Tensor):
        found.append(o)
    elif isinstance(o, dict):
        for v in o.values():
            _flat(v, found)
    elif isinstance(o, (tuple, list)):
        for v in o:
            _flat(v, found)


class _Flattened:
    """func of nested tensors, as a function of tensors that returns a tuple of tensors. out: the result of its last
    call."""

    def __init__(self, func, given, put, has_aux):
        self.func, self.given, self.put, self.has_aux = func, given, put, has_aux
        self.leaves, self.out, self.aux = [], None, None
        _flat(given, self.leaves)

    def __call__(self, *leaves):
        values, found = iter(leaves), []
        r = self.func(*self.put([_shaped(o, values) for o in self.given]))
        self.out, self.aux = r if self.has_aux else (r, None)
        _flat(self.out, found)
        return tuple(found)

    def result(self, parts):
        """The last result with `parts` in place of its tensors, and what has_aux returned besides."""
        r = _shaped(self.out, iter(parts))
        return (r, _detached(self.aux)) if self.has_aux else r


def _listed(o):
    found = []
    _flat(o, found)
    return found


def _detached(o):
    return _shaped(o, (t.detach() for t in _listed(o)))


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(outputs, their derivatives along tangents). With has_aux, what func returns besides its outputs comes third."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to be tuples")
    flat = _Flattened(func, primals, list, has_aux)
    directions = _listed(tangents)
    if len(directions) != len(flat.leaves):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, "
            "if primals is a tuple of 3 tensors, tangents also must be."
        )
    outs, along = functional.jvp(flat, tuple(flat.leaves), tuple(directions), create_graph=_Outside())
    out, slopes = _shaped(flat.out, iter(outs)), _shaped(flat.out, iter(along))
    return (out, slopes, flat.result(outs)[1]) if has_aux else (out, slopes)


def linearize(func, *primals):
    """(outputs, a function from tangents to the outputs' derivatives along them)."""

    def along(*tangents):
        return jvp(func, primals, tangents)[1]

    r = func(*primals)
    return _shaped(r, (t.detach() for t in _listed(r))), along


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that returns the Jacobian of func with respect to its arguments argnums. For each output tensor it has
    the structure of the argument. has_aux: func returns (outputs, something else)."""

    @_counted
    def jacobian(*args, **kwargs):
        given = _picked(args, argnums)
        flat = _Flattened(
            lambda *changed: func(*changed, **kwargs), given, lambda changed: _put(args, argnums, changed), has_aux
        )
        rows = functional.jacobian(flat, tuple(flat.leaves), create_graph=_Outside())
        parts = []
        for row in rows:
            values = iter(row)
            by = tuple(_shaped(o, values) for o in given)
            parts.append(by if isinstance(argnums, tuple) else by[0])
        return flat.result(parts)

    return jacobian


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """jacrev, because derivatives are computed by backward passes here."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    """A function that returns the second derivatives of func with respect to its arguments argnums."""
    return jacrev(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    """func itself: a recorded graph keeps what it writes in copies of its own already."""
    return func


def replace_all_batch_norm_modules_(root):
    """root, whose batch norms stop keeping running statistics, because vmap cannot write these."""
    from .nn.modules.norm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with other tensors, given by name, in place of its parameters and buffers."""
    named = parameter_and_buffer_dicts
    if isinstance(named, (tuple, list)):
        named = {k: v for d in named for k, v in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    kept = []
    try:
        for path, value in named.items():
            *way, name = path.split(".")
            holder = module
            for part in way:
                holder = getattr(holder, part)
            for place in (holder._parameters, holder._buffers):
                if name in place:
                    kept.append((place, name, place[name]))
                    place[name] = value
                    break
            else:
                raise KeyError(f"functional_call: the module has no parameter or buffer {path!r}")
        return module(*args, **(kwargs or {}))
    finally:
        for place, name, value in reversed(kept):
            place[name] = value


def stack_module_state(models):
    """(parameters, buffers) of several models of one kind, stacked by name."""
    params = {
        k: stack([dict(m.named_parameters())[k].detach() for m in models]).requires_grad_()
        for k, _ in models[0].named_parameters()
    }
    buffers = {k: stack([dict(m.named_buffers())[k] for m in models]) for k, _ in models[0].named_buffers()}
    return params, buffers


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """Map func over a dimension of its arguments: see treadle.vmap."""
    return _vmap.vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


__getattr__, __dir__ = _modules.refusing("torch.func")
