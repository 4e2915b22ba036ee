"""torch.func: functions of functions, by backward passes: grad, vjp, jvp, jacrev, hessian; vmap."""

import functools

from . import autograd
from ._prim import Tensor
from .autograd import functional


def _picked(args, argnums):
    return tuple(args[i] for i in argnums) if isinstance(argnums, tuple) else (args[argnums],)


def _put(args, argnums, values):
    args = list(args)
    for i, v in zip(argnums if isinstance(argnums, tuple) else (argnums,), values, strict=True):
        args[i] = v
    return args


def _leaves(o, found):
    """o with views of its tensors, which are found in order: what is differentiated by."""
    if isinstance(o, Tensor):
        leaf = o.view_as(o) if o.requires_grad else o.detach().requires_grad_()
        found.append(leaf)
        return leaf
    if isinstance(o, dict):
        return {k: _leaves(v, found) for k, v in o.items()}
    return type(o)(_leaves(v, found) for v in o) if isinstance(o, (tuple, list)) else o


def _shaped(o, values):
    """o with an iterator's next values for its tensors."""
    if isinstance(o, Tensor):
        return next(values)
    if isinstance(o, dict):
        return {k: _shaped(v, values) for k, v in o.items()}
    return type(o)(_shaped(v, values) for v in o) if isinstance(o, (tuple, list)) else o


def _zeros(found, leaves):
    return (x.detach().new_zeros(x.shape) if g is None else g for g, x in zip(found, leaves, strict=True))


def _nested():
    """Is a function of this module at work already? Then its derivative will be asked for too."""
    return _depth[0] > 1


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
    """A function that gives (the gradient of func by its arguments argnums, func's value)."""

    @_counted
    def both(*args, **kwargs):
        leaves = []
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
        graph = _nested()
        found = (
            autograd.grad(value, leaves, create_graph=graph, allow_unused=True)
            if value.requires_grad
            else [None] * len(leaves)
        )
        values = _zeros(found, leaves)
        grads = tuple(_shaped(o, values) for o in given)
        grads = grads if isinstance(argnums, tuple) else grads[0]
        value = value if graph else value.detach()
        return (grads, (value, aux)) if has_aux else (grads, value)

    return both


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func, whose value is one number, by its arguments argnums."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def slope(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return slope


def vjp(func, *primals, has_aux=False):
    """(outputs, a function from their gradients to those of primals)."""
    leaves = []
    changed = [_leaves(o, leaves) for o in primals]
    with autograd.enable_grad():
        r = func(*changed)
    out, aux = r if has_aux else (r, None)
    outs = []
    _flat(out, outs)

    def back(*cotangents):
        given = []
        _flat(cotangents if len(cotangents) > 1 or not isinstance(out, Tensor) else cotangents[0], given)
        live = [(t, g) for t, g in zip(outs, given, strict=True) if t.requires_grad]
        found = [None] * len(leaves)
        if live:
            ts, gs = zip(*live, strict=True)
            found = autograd.grad(ts, leaves, gs, retain_graph=True, create_graph=_nested(), allow_unused=True)
        values = _zeros(found, leaves)
        return tuple(_shaped(o, values) for o in primals)

    shown = _shaped(out, iter([t if _nested() else t.detach() for t in outs]))

    return (shown, back, aux) if has_aux else (shown, back)


def _flat(o, found):
    if isinstance(o, Tensor):
        found.append(o)
    elif isinstance(o, dict):
        for v in o.values():
            _flat(v, found)
    elif isinstance(o, (tuple, list)):
        for v in o:
            _flat(v, found)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(outputs, their derivatives along tangents)."""
    out, along = functional.jvp(func, tuple(primals), tuple(tangents), create_graph=_nested())
    return out, along


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the Jacobian of func by its arguments argnums."""

    @_counted
    def jacobian(*args, **kwargs):
        given = _picked(args, argnums)

        def of_given(*changed):
            return func(*_put(args, argnums, changed), **kwargs)

        r = functional.jacobian(of_given, given if isinstance(argnums, tuple) else given[0], create_graph=_nested())
        return r

    return jacobian


jacfwd = jacrev


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func by its arguments argnums."""
    return jacrev(jacrev(func, argnums), argnums)


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with other tensors in the place of its parameters and buffers, by their names."""
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
    """(parameters, buffers) of models of one kind, stacked by name."""
    from ._parts import stack

    params = {
        k: stack([dict(m.named_parameters())[k].detach() for m in models]).requires_grad_()
        for k, _ in models[0].named_parameters()
    }
    buffers = {k: stack([dict(m.named_buffers())[k] for m in models]) for k, _ in models[0].named_buffers()}
    return params, buffers


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """func over a dimension of its arguments: see treadle.vmap."""
    from ._vmap import vmap as batched

    return batched(func, in_dims, out_dims, randomness, chunk_size=chunk_size)
