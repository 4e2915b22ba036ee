"""Dtypes that PyTorch has no loops for, where NumPy's functions count on: they are refused.

A function looks at its first tensor at its public name. What this package calls itself is not asked. Rows of the core's
table have their rules in src/python/tensor/tensorarg.c.
"""

import functools

from .._core import Tensor


def _table(text):
    """{function: the kinds of dtypes that it lacks} of lines that start with the kinds, as NumPy's letters."""
    lines = (line.split() for line in text.split("\n") if line.strip())
    found = {}
    for kinds, *names in lines:
        for name in names:
            found[name] = found.get(name, "") + kinds
    return found


# Functions of torch, torch.linalg and torch.special, and methods of tensors.
_OF_TENSORS = _table("""
    b     argmax argmin bincount bucketize cumulative_trapezoid gradient isin kthvalue median nanmedian round
    b     searchsorted topk trace trapezoid trapz
    bui   cauchy_ cholesky_inverse cholesky_solve cond dist exponential_ frac frexp geqrf histogram
    bui   householder_product igamma igammac gammainc gammaincc histc lerp log_normal_ logaddexp logaddexp2
    bui   logcumsumexp lstsq lu lu_factor lu_solve matrix_norm matrix_rank norm normal_ nanquantile pinv
    bui   pinverse polar prelu qr quantile renorm rrelu solve_triangular svd svdvals triangular_solve uniform_ vecdot
    bui   vector_norm
    buic  cdist celu hardshrink log_softmax nanmean pdist selu softmax
    c     bernoulli_ cauchy_ digamma erfinv exponential_ gammaln geometric_ igamma igammac gammainc gammaincc i0 lgamma
    c     log_normal_ mvlgamma nansum poisson polygamma psi random_ unique_consecutive
    c     bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0e i1 i1e log_ndtr ndtri xlog1py zeta multigammaln
    c     modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
    c     scaled_modified_bessel_k0 scaled_modified_bessel_k1
""")
# Functions of torch.nn.functional.
_OF_LAYERS = _table("""
    b     hardtanh relu6 threshold
    bui   adaptive_max_pool1d adaptive_max_pool2d binary_cross_entropy_with_logits cross_entropy
    bui   gaussian_nll_loss gelu grid_sample hardsigmoid hardswish hinge_embedding_loss kl_div leaky_relu logsigmoid
    bui   max_pool1d mish multilabel_margin_loss multilabel_soft_margin_loss normalize prelu rms_norm rrelu silu
    bui   soft_margin_loss softplus softshrink
    ui    unfold
    buic  adaptive_avg_pool1d binary_cross_entropy celu elu glu gumbel_softmax hardshrink huber_loss log_softmax
    buic  multi_margin_loss nll_loss pdist selu smooth_l1_loss softmax softmin
    c     adaptive_avg_pool2d avg_pool1d avg_pool2d batch_norm cross_entropy group_norm instance_norm layer_norm
    c     local_response_norm max_pool1d max_pool2d mse_loss scaled_dot_product_attention adaptive_max_pool1d
    c     adaptive_max_pool2d
""")


# Functions whose tensors, given by position, have to be of one dtype.
_ALIKE = set("addbmm addmm addmv baddbmm bilinear cdist cross grid_sample lerp meshgrid polar prelu solve".split())


def check(name, lacking=_OF_TENSORS):
    """What looks at the arguments of the function of that name, as look(args, kwargs), and raises where PyTorch does.
    None: nothing needs to."""
    own = name.removesuffix("_")
    kinds, alike = lacking.get(name) or lacking.get(own, ""), own in _ALIKE
    if not kinds and not alike:
        return None

    def look(args, kwargs):
        x = args[0] if args else kwargs.get("input")
        if not isinstance(x, Tensor):
            return
        if x.dtype._kind in kinds and not _names_dtype(x, args, kwargs):
            raise NotImplementedError(f'"{name}" not implemented for {x.dtype}')
        if alike and any(isinstance(a, Tensor) and a.dtype is not x.dtype for a in args):
            dtypes = ", ".join(str(a.dtype) for a in args if isinstance(a, Tensor))
            raise RuntimeError(f"{name}: expected tensors of one dtype, but got {dtypes}")

    return look


def check_layer(name):
    """What looks at the arguments of a function of torch.nn.functional, as `check`."""
    return check(name, _OF_LAYERS)


def guarded(f, name):
    """f under a public name, whose arguments are looked at. f itself if nothing needs to look."""
    look = check(name)
    if look is None:
        return f

    @functools.wraps(f)
    def call(*args, **kwargs):
        look(args, kwargs)
        return f(*args, **kwargs)

    return call


def _names_dtype(x, args, kwargs):
    """Does the call say in which dtype it computes?"""
    return any(isinstance(a, type(x.dtype)) for a in (*args, *kwargs.values()))
