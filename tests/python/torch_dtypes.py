"""The dtypes of results, and which dtypes are refused: told(torch) gives {expression: a word for each of DTYPES}. A Python
that has PyTorch writes PyTorch's to torch_dtypes.json by running this file."""

import json
import pathlib
import warnings

VALUES = pathlib.Path(__file__).with_name("torch_dtypes.json")
DTYPES = "float16 bfloat16 float32 float64 bool uint8 int8 int16 int32 int64 complex64 complex128".split()

# Functions of x, a symmetric matrix of three rows
ELEMENTS = """
abs acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos cosh deg2rad digamma erf erfc erfinv exp
exp2 expm1 floor frac frexp i0 isfinite isinf isnan isneginf isposinf isreal lgamma log log10 log1p log2 logical_not logit
nan_to_num neg rad2deg real reciprocal relu round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc
"""
SPECIAL = """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0e i1 i1e log_ndtr modified_bessel_i0 modified_bessel_k0
modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0
"""
POLYNOMIALS = """
chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
"""
REDUCTIONS = """
all amax amin any argmax argmin argsort cumsum cumprod diff logcumsumexp logsumexp max mean median min mode nanmean
nanmedian nansum norm prod softmax log_softmax sort std sum var
"""
PAIRS = """
add sub mul div floor_divide remainder fmod pow atan2 maximum fmax hypot copysign nextafter logaddexp logaddexp2 xlogy
heaviside gcd lcm eq lt logical_and bitwise_and bitwise_left_shift isclose float_power dist cdist matmul outer isin
"""
LINALG = """
cholesky cholesky_ex cond det eigh eigvalsh householder_product inv lu_factor lu_factor_ex matrix_exp matrix_norm
matrix_rank norm pinv qr slogdet svdvals vander vector_norm
"""
FFT = "fft fft2 fftn hfft ifft ihfft irfft rfft rfftn"
LAYERS = """
celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu6 selu silu softplus softshrink
softsign tanhshrink normalize
"""
ROWS = """
torch.div(x, x, rounding_mode="floor")
torch.div(x, x, rounding_mode="trunc")
torch.add(x, 1.5)
torch.mul(x, 2)
torch.pow(x, 2)
torch.pow(x, 0.5)
torch.lerp(x, x, 0.5)
torch.addcmul(x, x, x)


torch.view_as_real(x)
torch.polygamma(1, x)
torch.special.zeta(x, x)
torch.special.xlog1py(x, x)
torch.quantile(x, 0.5, 0)
torch.histc(x, 4)
torch.bincount(x[0])
torch.linalg.solve(x, x)
torch.linalg.solve_triangular(x, x, upper=True)
torch.stft(x[0], 2, 1, return_complex=True, center=False)

F.avg_pool1d(x, 2)
F.avg_pool2d(x[None], 2)
F.avg_pool3d(x[None, None], 2)
F.max_pool2d(x[None], 2)
F.max_pool3d(x[None, None], 2)
F.adaptive_avg_pool2d(x[None], 2)
F.adaptive_max_pool2d(x[None], 1)
F.interpolate(x[None, None], scale_factor=2)
F.interpolate(x[None, None], scale_factor=2, mode="bilinear")
F.conv2d(x[None, None], x[None, None])
F.conv_transpose2d(x[None, None], x[None, None])
F.batch_norm(x[None], None, None, training=True)
F.layer_norm(x, (3,))
F.mse_loss(x, x)
F.l1_loss(x, x)
F.cross_entropy(x, torch.tensor([0, 1, 2]))
F.embedding(torch.tensor([0]), x)
F.one_hot(x)
F.pad(x, (1, 1))
F.cosine_similarity(x, x)
"""

# Functions of x and of y, the same matrix in another dtype
MIXED = """
F.mse_loss(x, y)
F.l1_loss(x, y)
F.smooth_l1_loss(x, y)
F.huber_loss(x, y)
F.binary_cross_entropy(x * 0, y * 0)
F.binary_cross_entropy_with_logits(x, y)
F.kl_div(x, y)
F.cross_entropy(x, y)
F.cross_entropy(x, y[0] * 0)
F.nll_loss(x, y[0] * 0)
F.multi_margin_loss(x, y[0] * 0)
F.linear(x, y)
F.linear(x, x, y[0])
F.conv1d(x[None], y[:, :, None])
F.bilinear(x, x, y[None])
F.embedding(x * 0, y)
F.layer_norm(x, (3,), y[0])
F.batch_norm(x, y[0], y[0])
F.batch_norm(x, None, None, y[0], training=True)
F.prelu(x, y[0])
F.scaled_dot_product_attention(x[None], y[None], y[None])
x[y * 0]
x.take(y * 0)
x.gather(0, y * 0)
x.index_select(0, y[0] * 0)
torch.take_along_dim(x, y * 0, 0)
torch.tensor_split(x, y[0, :1] * 0)[0]
torch.repeat_interleave(x, y[0], 0)
torch.searchsorted(x[0], y[0])
torch.bucketize(x, y[0])
torch.where(torch.ones(3, 3) > 0, x, y)
torch.cat([x, y])
torch.lerp(x, x, y)
torch.addcmul(x, y, y)
torch.addmm(x, y, y)
torch.einsum("ij,jk->ik", x, y)
x.index_add(0, torch.tensor([0, 1, 2]), y)
x.index_copy(0, torch.tensor([0, 1, 2]), y)
x.index_fill(0, torch.tensor([0]), y[0, 0])
x.scatter(0, torch.zeros(3, 3, dtype=torch.long), y)
x.scatter_add(0, torch.zeros(3, 3, dtype=torch.long), y)
x.masked_scatter(torch.ones(3, 3) > 0, y)
x.clone().add_(y)
x.clone().div_(y)
x.clone().pow_(y)
x.clone().copy_(y)
torch.trapezoid(x, y)
"""


def expressions():
    yield from (f"torch.{name}(x)" for name in ELEMENTS.split())
    yield from (f"torch.special.{name}(x)" for name in SPECIAL.split())
    yield from (f"torch.special.{name}(x, 2)" for name in POLYNOMIALS.split())
    yield from (f"x.{name}(0)" if name not in ("nansum", "prod") else f"x.{name}()" for name in REDUCTIONS.split())
    yield from (f"torch.{name}(x{row}, x{row})" for name in PAIRS.split() for row in ["[0]" if name == "outer" else ""])
    yield from (f"torch.linalg.{name}(x)" if name != "householder_product" else f"torch.linalg.{name}(x, x[0])" for name in LINALG.split())
    yield from (f"torch.fft.{name}(x)" for name in FFT.split())
    yield from (f"F.{name}(x)" for name in LAYERS.split())
    yield from filter(None, ROWS.split("\n"))
    yield from (f"{row}  # y: {dtype}" for row in filter(None, MIXED.split("\n")) for dtype in DTYPES)


def _word(expression, scope):
    try:
        r = eval(expression, scope)
        r = r[0] if isinstance(r, tuple) else r
        repr(r)  # what is computed late
        return str(r.dtype).removeprefix("torch.")
    except (RuntimeError, TypeError, ValueError, IndexError):
        return "-"


def told(torch):
    matrix = [[5, 1, 2], [1, 4, 1], [2, 1, 3]]
    found = {expression: [] for expression in expressions()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DTYPES:
            x = torch.tensor(matrix).to(getattr(torch, name))
            for expression, words in found.items():
                other = getattr(torch, expression.rpartition("# y: ")[2], None) or x.dtype
                scope = {"torch": torch, "F": torch.nn.functional, "x": x, "y": torch.tensor(matrix).to(other)}
                words.append(_word(expression, scope))
    return {expression: " ".join(words) for expression, words in found.items()}


if __name__ == "__main__":
    import torch

    rows = (f"{json.dumps(case)}: {json.dumps(words)}" for case, words in told(torch).items())
    VALUES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
