"""Dtypes that PyTorch has no loops for, where NumPy's functions count on: they are refused.

A function looks at its first tensor at its public name. What this package calls itself is not asked. Rows of the core's
table have their rules in src/python/tensor/tensorarg.c.
"""

import functools

from .._core import Tensor


def _table(text):
    """{function: the kinds of dtypes that it lacks} of lines that start with the kinds: NumPy's letters; h: half types
    on the CPU; s: integers shorter than int64."""
    lines = (line.split() for line in text.split("\n") if line.strip())
    found = {}
    for kinds, *names in lines:
        for name in names:
            found[name] = found.get(name, "") + kinds
    return found


# Functions of torch, torch.linalg and torch.special, and methods of tensors.
_OF_TENSORS = _table("""
    b     argmax argmin bincount cumulative_trapezoid gradient isin kthvalue median nanmedian round
    b     topk trace trapezoid trapz
    bui   cauchy_ cholesky_inverse cholesky_solve cond dist exponential_ frac frexp geqrf histogram
    bui   householder_product igamma igammac gammainc gammaincc histc lerp log_normal_
    bui   logcumsumexp lstsq lu lu_factor lu_solve matrix_norm matrix_rank norm normal_ nanquantile pinv
    bui   pinverse polar prelu qr quantile renorm rrelu solve_triangular svd svdvals triangular_solve uniform_ vecdot
    bui   vector_norm stft lu_factor_ex
    buic  cdist celu hardshrink log_softmax nanmean pdist selu softmax
    c     bernoulli_ cauchy_ digamma erfinv exponential_ gammaln geometric_ igamma igammac gammainc gammaincc i0 lgamma
    c     log_normal_ mvlgamma nansum poisson polygamma psi random_ unique_consecutive
    c     bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0e i1 i1e log_ndtr ndtri xlog1py zeta multigammaln
    c     modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
    c     scaled_modified_bessel_k0 scaled_modified_bessel_k1 isin histc index_reduce normal hash_tensor
    b     geometric_ index_reduce vander
    c     frexp quantile nanquantile
    fc    bincount
    hc    airy_ai spherical_bessel_j0 hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
    hc    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    hc    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    hc    shifted_chebyshev_polynomial_w legendre_polynomial_p
    h     bessel_j0 bessel_j1 bessel_y0 bessel_y1 erfcx log_ndtr ndtri zeta modified_bessel_i0 modified_bessel_i1
    h     modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1
    h     cdist quantile nanquantile histogram histogramdd stft
    h     fft fft2 fftn ifft ifft2 ifftn rfft rfft2 rfftn irfft irfft2 irfftn hfft hfft2 hfftn ihfft ihfft2 ihfftn
""")
# Functions of matrices: half types are refused on the CPU.
_OF_MATRICES = """
    cholesky cholesky_ex cholesky_inverse cholesky_solve cond det eig eigh eigvals eigvalsh geqrf
    householder_product inv inv_ex inverse ldl_factor ldl_factor_ex ldl_solve logdet lobpcg lstsq lu lu_factor
    lu_factor_ex lu_solve matrix_rank ormqr pca_lowrank pinv pinverse qr slogdet solve solve_ex solve_triangular
    svd svd_lowrank svdvals tensorinv tensorsolve triangular_solve vander
""".split()
_OF_TENSORS |= {name: _OF_TENSORS.get(name, "") + "h" for name in _OF_MATRICES}
# Functions of torch.nn.functional.
_OF_LAYERS = _table("""
    b     hardtanh relu6 threshold
    bui   adaptive_max_pool1d adaptive_max_pool2d binary_cross_entropy_with_logits cross_entropy
    bui   gaussian_nll_loss gelu grid_sample hardsigmoid hardswish hinge_embedding_loss kl_div leaky_relu logsigmoid
    bui   max_pool1d mish multilabel_margin_loss multilabel_soft_margin_loss normalize prelu rms_norm rrelu silu
    bui   soft_margin_loss softplus softshrink
    ui    unfold
    buic  adaptive_avg_pool1d binary_cross_entropy celu elu glu gumbel_softmax hardshrink log_softmax
    buic  multi_margin_loss nll_loss pdist selu softmax softmin
    c     adaptive_avg_pool2d avg_pool1d avg_pool2d batch_norm cross_entropy group_norm instance_norm layer_norm
    c     local_response_norm max_pool1d max_pool2d scaled_dot_product_attention adaptive_max_pool1d
    c     adaptive_max_pool2d
    b     max_pool2d
    bc    max_pool3d adaptive_max_pool3d
    ui    adaptive_max_pool3d
    bus   avg_pool1d avg_pool2d avg_pool3d local_response_norm
    us    conv_transpose1d conv_transpose2d conv_transpose3d
    bui   adaptive_avg_pool2d
    ui    batch_norm max_unpool1d max_unpool2d max_unpool3d
    bic   interpolate upsample upsample_bilinear upsample_nearest
    c     adaptive_avg_pool3d avg_pool3d cosine_similarity embedding_bag gelu
    h     avg_pool3d ctc_loss multi_margin_loss multilabel_margin_loss
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
        if _among(x, kinds) and not _names_dtype(x, args, kwargs):
            shown = f"linalg.{name}" if name in _OF_MATRICES else name
            raise NotImplementedError(f"\"{shown}\" not implemented for '{x.dtype._word}'")
        if alike and any(isinstance(a, Tensor) and a.dtype is not x.dtype for a in args):
            dtypes = ", ".join(a.dtype._word for a in args if isinstance(a, Tensor))
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


def _among(x, kinds):
    own = x.dtype
    if own._kind == "f":
        return "f" in kinds or "h" in kinds and own.itemsize == 2 and not x.is_cuda
    return own._kind in kinds or "s" in kinds and own._kind == "i" and own.itemsize < 8


def _names_dtype(x, args, kwargs):
    """Does the call say in which dtype it computes?"""
    return any(isinstance(a, type(x.dtype)) for a in (*args, *kwargs.values()))
