"""``torch.utils._pytree``: nested lists, tuples, dicts and registered classes, flattened to a list of leaves and
rebuilt."""

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

_KINDS = {}  # by class
_Kind = namedtuple("_Kind", "flatten unflatten name keyed")
SUPPORTED_NODES = _KINDS
Context = PyTree = Any  # for annotations


# ---- where a leaf is ----


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of an item in a list or tuple."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """The item at this place."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The place of a value in a dict."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """The value at this place."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The place of an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """The attribute's value."""
        return getattr(obj, self.name)


def keystr(kp):
    """A path of places, as Python would write it."""
    return "".join(map(str, kp))


# ---- structures ----


@dataclasses.dataclass
class TreeSpec:
    """The structure of a tree: the class of its root, what that class needs besides its children, and their structures.
    A leaf has type None."""

    type: object
    context: object
    children_specs: list

    @property
    def num_leaves(self):
        """The number of leaves."""
        return 1 if self.type is None else sum(c.num_leaves for c in self.children_specs)

    @property
    def num_children(self):
        """The number of children of the root."""
        return len(self.children_specs)

    num_nodes = property(lambda self: 1 + sum(c.num_nodes for c in self.children_specs), doc="All nodes below.")

    def is_leaf(self):
        """Is it a leaf?"""
        return self.type is None

    def unflatten(self, leaves):
        """tree_unflatten(leaves, self)."""
        return tree_unflatten(leaves, self)

    def __hash__(self):
        return hash((self.type, self.num_leaves))


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and other.type is None

    __hash__ = TreeSpec.__hash__

    def __repr__(self):
        return "*"


def register_pytree_node(
    cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, flatten_with_keys_fn=None, **unused
):
    """Register cls as a class of inner nodes: flatten_fn(x) -> (children, context), unflatten_fn(children, context) ->
    x, flatten_with_keys_fn(x) -> ([(place, child), ...], context). Raises ValueError if cls is registered already."""
    if cls in _KINDS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _KINDS[cls] = _Kind(flatten_fn, unflatten_fn, serialized_type_name, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Register the dataclass cls as a class of inner nodes, with its fields as children."""
    names = [f.name for f in dataclasses.fields(cls)] if field_names is None else list(field_names)
    names = [n for n in names if n not in (drop_field_names or ())]
    register_pytree_node(
        cls,
        lambda x: ([getattr(x, n) for n in names], names),
        lambda values, context: cls(**dict(zip(context, values, strict=True))),
        flatten_with_keys_fn=lambda x: ([(GetAttrKey(n), getattr(x, n)) for n in names], names),
    )


def register_constant(cls):
    """Register cls as a class of inner nodes without children."""
    register_pytree_node(cls, lambda x: ([], x), lambda values, x: x)


def _dict_flatten(d):
    return list(d.values()), list(d)


def _dict_unflatten(values, keys):
    return dict(zip(keys, values, strict=True))


def _dict_flatten_with_keys(d):
    values, context = _dict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values, strict=True)], context


register_pytree_node(list, lambda x: (list(x), None), lambda v, _: list(v))
register_pytree_node(tuple, lambda x: (list(x), None), lambda v, _: tuple(v))
register_pytree_node(dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys)
register_pytree_node(
    OrderedDict,
    _dict_flatten,
    lambda v, keys: OrderedDict(zip(keys, v, strict=True)),
    flatten_with_keys_fn=_dict_flatten_with_keys,
)
register_pytree_node(
    defaultdict,
    lambda x: (list(x.values()), [x.default_factory, list(x)]),
    lambda v, c: defaultdict(c[0], zip(c[1], v, strict=True)),
    flatten_with_keys_fn=lambda x: ([(MappingKey(k), v) for k, v in x.items()], [x.default_factory, list(x)]),
)
register_pytree_node(deque, lambda x: (list(x), x.maxlen), lambda v, most: deque(v, most))


def _kind(tree):
    cls = type(tree)
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and cls not in _KINDS:  # of collections.namedtuple
        fields = [GetAttrKey(name) for name in cls._fields]
        return _Kind(
            lambda x: (list(x), cls), lambda v, c: c(*v), None, lambda x: (list(zip(fields, x, strict=True)), cls)
        )
    return _KINDS.get(cls)


def tree_flatten(tree, is_leaf=None):
    """(the leaves of tree as a list, its TreeSpec). Where is_leaf(x) is true, x is a leaf whatever its class."""
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        return [tree], LeafSpec()
    children, context = kind.flatten(tree)
    leaves, specs = [], []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(type(tree), context, specs)


def _placed(tree, is_leaf):
    """(path, leaf) for each leaf."""
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        return [((), tree)]
    children = kind.keyed(tree)[0] if kind.keyed else [(SequenceKey(i), c) for i, c in enumerate(kind.flatten(tree)[0])]
    return [((key, *path), leaf) for key, child in children for path, leaf in _placed(child, is_leaf)]


def tree_flatten_with_path(tree, is_leaf=None):
    """([(path, leaf), ...], the TreeSpec); a path is a tuple of places."""
    return _placed(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """[(path, leaf), ...]."""
    return _placed(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """tree_map with a function that gets the leaf's path first."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*place, *values) for place, *values in zip(found, *others, strict=True)], spec)


def key_get(obj, kp):
    """The value at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def tree_unflatten(leaves, treespec):
    """The tree of this structure with these leaves. Raises ValueError if their number differs."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return _built(iter(leaves), treespec)


def _built(leaves, spec):
    if spec.type is None:
        return next(leaves)
    kind = _KINDS.get(spec.type)
    children = [_built(leaves, c) for c in spec.children_specs]
    return spec.context(*children) if kind is None else kind.unflatten(children, spec.context)


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree, is_leaf=None):
    """The leaves as a list."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The tree's TreeSpec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, *leaves of rests at the same place) in place of each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*values) for values in zip(leaves, *others, strict=True)], spec)


def _up_to(spec, tree):
    """The parts of tree at the places where spec has leaves. Raises ValueError if tree has another structure."""
    if spec.type is None:
        return [tree]
    kind = _kind(tree)
    children = kind.flatten(tree)[0] if kind is not None and type(tree) is spec.type else None
    if children is None or len(children) != len(spec.children_specs):
        raise ValueError(f"Node type mismatch; expected {spec.type} of {len(spec.children_specs)}, got {tree!r}")
    return [x for c, s in zip(children, spec.children_specs, strict=True) for x in _up_to(s, c)]


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call func with each leaf, and return tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is applied to values of these types, or where the predicate holds. Others stay."""
    asked = type_or_types_or_pred
    test = (lambda x: isinstance(x, asked)) if isinstance(asked, (type, tuple)) else asked

    def decorate(func):
        return lambda x: func(x) if test(x) else x

    return decorate


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map of func, for leaves of these types only."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map_ of func, for leaves of these types only."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Does pred hold for all leaves?"""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Does pred hold for any leaf?"""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Does pred hold for all leaves of these types?"""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Does pred hold for any leaf of these types?"""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))
