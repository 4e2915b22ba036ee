"""What treadle.torch and PyTorch must agree on: expressions that both evaluate, by the name that they try.

A line is `name: expression ; expression`. The names of operands stand in `operands`. Results, and the gradients of all
operands that took part, are compared (torch_side.py). Names with a dot are a module's; a name that begins with a dot is
a tensor's method.
"""

import numpy


def operands():
    """NumPy arrays by name; those in lower case with floats require gradients."""
    r = numpy.random.RandomState(7)

    def f(*shape):
        return r.uniform(-2, 2, shape).astype("f4")

    x, y, s = f(3, 4), f(3, 4), f(3, 3)
    return dict(  # noqa: C408 - a list of names
        x=x, y=y, v=f(4), u=f(3), p=r.uniform(0.3, 2, (3, 4)).astype("f4"), q=r.uniform(0.1, 0.9, (3, 4)).astype("f4"),
        s=s, h=s @ s.T + 3 * numpy.eye(3, dtype="f4"), m=f(2, 3, 4), n=f(2, 4, 3), a0=numpy.float32(1.5),
        d=f(3, 4).astype("f8"), l=f(12), H=f(3, 4).astype("f2"), N=numpy.float32([[1, numpy.nan], [numpy.inf, -2]]),
        D=numpy.float64([1.5, -2.5, 0.5, 2.0]), I=r.randint(-4, 6, (3, 4)), J=r.randint(1, 6, (3, 4)),
        K=numpy.int64([2, 0, 1]), G=r.randint(0, 3, (3, 4)), B=r.uniform(size=(3, 4)) < 0.5, U=numpy.uint8([200, 100, 3]),
        S=r.randint(-4, 6, (3, 4)).astype("i4"), C=(f(3, 4) + 1j * f(3, 4)).astype("c8"), L=r.randint(0, 5, 12),
        Z=(f(3, 3) + 1j * f(3, 3)).astype("c8"), T=numpy.int64(3), E=numpy.zeros((0, 3), "f4"),
    )  # fmt: skip


# Functions of one operand, tried as a function and as a method, and in place where they end so in the list.
UNARY = {
    "x": "abs_ absolute_ arctan_ arcsinh asinh atan_ ceil_ cos_ cosh_ deg2rad_ erf_ erfc_ exp2_ exp_ expm1_ fix_ floor_ "
    "frac_ i0_ isfinite isinf isnan isneginf isposinf isreal logical_not neg_ negative_ positive rad2deg_ relu_ round_ "
    "sgn_ sigmoid_ sign_ signbit sin_ sinh_ square_ tan_ tanh_ trunc_ nan_to_num_ t ravel flatten fliplr flipud "
    "numel count_nonzero is_floating_point is_complex clone detach msort",
    "p": "sinc_ digamma_ lgamma_ log10_ log1p_ log2_ log_ reciprocal_ rsqrt_ sqrt_",
    "q": "acos_ arccos_ arcsin_ asin_ atanh arctanh erfinv_ logit_",
    "(p + 1)": "acosh arccosh",
    "I": "bitwise_not_ abs sign neg square",
    "C": "abs angle conj exp sin cos tanh sqrt square reciprocal sgn neg isfinite isreal is_complex conj_physical "
    "resolve_conj sum mean prod",
    "N": "isfinite isinf isnan nan_to_num isposinf isneginf nansum nanmean",
}

BINARY = {
    "x, y": "add_ sub_ subtract_ mul_ multiply_ div_ divide_ true_divide_ atan2_ arctan2 maximum minimum fmax fmin hypot_ "
    "logaddexp logaddexp2 copysign_ eq_ ne_ lt_ le_ gt_ ge_ greater_ greater_equal_ less_ less_equal_ not_equal_ "
    "logical_and logical_or logical_xor nextafter isclose dist allclose equal remainder_",
    "x, p": "fmod_",
    "x.detach(), y": "logical_and_ logical_or_ logical_xor_",
    "x.detach(), x.detach() * 0.5": "heaviside",
    "x, v": "add sub mul div maximum atan2",
    "p, y": "pow_ float_power xlogy",
    "x, q": "xlogy",
    "I, J": "add_ sub mul div floor_divide_ remainder_ fmod_ gcd_ lcm_ bitwise_and_ bitwise_or_ bitwise_xor_ eq lt maximum "
    "minimum pow bitwise_left_shift_ true_divide atan2",
    "J, J": "bitwise_right_shift_",
    "B, B": "logical_and bitwise_and logical_xor bitwise_or eq mul add",
    "C, x": "add mul div sub",
    "x, 2": "add_ sub_ mul_ div_ pow_ eq ne lt le gt ge remainder fmod true_divide float_power",
    "I, 2.5": "add mul div sub remainder fmod",
    "U, -1": "add mul",
}

CASES = r"""
# ---- arithmetic ----
add: torch.add(x, y, alpha=2) ; x + 1 ; 1 + x ; x + I ; I + 1.5 ; H + 1 ; x + d ; B + 1 ; U + K ; x + a0 ; I + a0 ; x.add(y, alpha=0.5) ; torch.add(x, 3, alpha=2) ; x + 1j
sub: 2 - x ; torch.sub(x, y, alpha=2) ; x - v ; u.reshape(3, 1) - x
rsub: torch.rsub(x, 3) ; torch.rsub(x, y, alpha=2)
mul: 2 * x ; x * I ; x * B ; x * u[:, None]
div: 2 / p ; I / 2 ; torch.div(x, p, rounding_mode='floor') ; torch.div(x, p, rounding_mode='trunc') ; torch.div(I, J, rounding_mode='trunc') ; torch.div(I, J, rounding_mode='floor') ; I / J ; x / 0.5
floor_divide: x.detach() // 0.5 ; torch.floor_divide(x.detach(), y.detach()) ; I // J ; I // 2 ; 7 // J
remainder: x % 0.7 ; I % J ; 7 % J ; torch.remainder(2, p.detach())
pow: p ** 2 ; p ** y ; 2 ** x ; x ** 3 ; x ** 0.0 ; torch.pow(2.0, x) ; p ** -0.5 ; I ** 2 ; x.pow(2) ; p.pow(0.5)
neg: -x ; +x ; abs(x) ; ~B ; ~I
clamp: x.clamp(-1, 1) ; x.clamp(min=0) ; x.clamp(max=0.5) ; torch.clamp(x, y, p) ; torch.clamp(x, min=y) ; I.clamp(-1, 2) ; x.clone().clamp_(-1, 1) ; I.clamp(min=0.5)
clip: torch.clip(x, -0.5, 0.5) ; x.clone().clip_(0)
clamp_min: x.clamp_min(0) ; torch.clamp_min(x, 0.3) ; x.clone().clamp_min_(0.1)
clamp_max: x.clamp_max(0) ; torch.clamp_max(x, 0.3) ; x.clone().clamp_max_(0.1)
lerp: torch.lerp(x, y, 0.3) ; x.lerp(y, q) ; x.clone().lerp_(y, 0.25)
addcmul: torch.addcmul(x, y, p, value=0.5) ; x.clone().addcmul_(y, p, value=2)
addcdiv: torch.addcdiv(x, y, p, value=0.5) ; x.clone().addcdiv_(y, p, value=2)
threshold: torch.threshold(x, 0.1, 20)
round: torch.round(x, decimals=1) ; torch.round(D) ; torch.round(I)
rot90: torch.rot90(x) ; torch.rot90(m, 2, [0, 2]) ; torch.rot90(x, -1)
frexp: torch.frexp(x)
ldexp: torch.ldexp(x, I) ; torch.ldexp(x, torch.tensor([1, 2, 3, 4]))
polygamma: torch.polygamma(1, p) ; torch.polygamma(2, p) ; p.polygamma(0)
mvlgamma: torch.mvlgamma(p + 2, 2)
igamma: torch.igamma(p.detach(), q.detach())
igammac: torch.igammac(p.detach(), q.detach())
logit: torch.logit(q, eps=0.2) ; torch.logit(q)
nan_to_num: torch.nan_to_num(N, nan=7.0) ; torch.nan_to_num(N, 1.0, 2.0, 3.0)
signbit: torch.signbit(x)
complex: torch.complex(x, y) ; torch.complex(x, y).real
polar: torch.polar(p, y)
view_as_real: torch.view_as_real(C)
view_as_complex: torch.view_as_complex(m.reshape(3, 4, 2))
isin: torch.isin(I, torch.tensor([1, 2])) ; torch.isin(I, torch.tensor([1, 2]), invert=True) ; torch.isin(I, 2)
sigmoid: torch.sigmoid(x) ; torch.sigmoid(I)
softmax: torch.softmax(x, -1) ; torch.softmax(x, dim=0) ; x.softmax(1) ; torch.softmax(x, 0, dtype=torch.float64) ; x.softmax(dim=-1)
log_softmax: torch.log_softmax(x, 1) ; x.log_softmax(dim=0)
relu: torch.relu(x) ; torch.relu(I)
selu: torch.selu(x)
celu: torch.celu(x, 0.7)
hardshrink: torch.hardshrink(x) ; x.hardshrink(0.8)
prelu: torch.prelu(x, v) ; torch.prelu(x, torch.tensor([0.25]))
rsqrt: torch.rsqrt(p)
where: torch.where(B, x, y) ; torch.where(B, x, 0.0) ; torch.where(B, 1, 0) ; torch.where(B) ; x.where(B, y) ; torch.where(x > 0, x, 0) ; torch.where(B, I, x) ; torch.where(B, 1.5, I)
positive: torch.positive(x)
scalar_tensor: torch.scalar_tensor(3.5) ; torch.scalar_tensor(3)
real: torch.real(C) ; torch.imag(C) ; C.real ; C.imag ; x.real ; torch.real(x)
.heaviside_: x.detach().clone().heaviside_(x.detach() * 0.5)
.rsub: x.clone().arctan2_(y) ; p.detach().clone().xlogy_(q.detach()) ; x.detach().clone().nextafter_(y.detach()) ; d.detach().clone().float_power_(2)
.ldexp_: x.clone().ldexp_(torch.tensor([1, 2, 3, 4]))
.igamma_: p.detach().clone().igamma_(q.detach()) ; p.detach().clone().igammac_(q.detach()) ; p.clone().polygamma_(1) ; (p + 2).mvlgamma_(2)
.logical_not_: x.detach().clone().logical_not_() ; C.clone().conj_physical_()
.acosh_: (p.detach() + 1).acosh_() ; q.detach().clone().atanh_() ; x.detach().clone().asinh_() ; (p.detach() + 1).arccosh_() ; q.detach().clone().arctanh_() ; x.detach().clone().arcsinh_()
# ---- reductions ----
sum: x.sum() ; torch.sum(x, 0) ; torch.sum(x, dim=(0, 1)) ; m.sum((0, 2), keepdim=True) ; I.sum() ; B.sum() ; x.sum(dim=-1, keepdim=True) ; x.sum(1, dtype=torch.float64) ; m.sum(-1) ; torch.sum(H) ; torch.sum(E, 0) ; S.sum()
mean: x.mean() ; torch.mean(x, 1) ; m.mean(dim=[0, 1]) ; x.mean(0, keepdim=True) ; x.mean(dim=(0, 1), keepdim=True)
prod: x.prod() ; torch.prod(x, 1) ; I.prod(0) ; x.prod(dim=0, keepdim=True)
var: x.var() ; torch.var(x, 1) ; torch.var(x, dim=0, unbiased=False) ; torch.var(x, 1, correction=0) ; m.var((0, 1), keepdim=True) ; torch.var(x, 1, False)
std: x.std() ; torch.std(x, 1) ; torch.std(x, dim=0, unbiased=False) ; torch.std(x, 1, correction=2) ; m.std((1, 2))
var_mean: torch.var_mean(x) ; torch.var_mean(x, 1, keepdim=True) ; torch.var_mean(x, dim=0, correction=0)
std_mean: torch.std_mean(x) ; torch.std_mean(x, 1)
max: x.max() ; torch.max(x, 1) ; torch.max(x, y) ; x.max(dim=0, keepdim=True) ; x.max(1).values ; x.max(1).indices ; x.max(-1)[0] ; I.max()
min: x.min() ; torch.min(x, 1) ; torch.min(x, y) ; x.min(dim=0, keepdim=True) ; I.min(0)
amax: torch.amax(x, 1) ; x.amax((0, 1)) ; x.amax() ; m.amax(dim=(0, 2), keepdim=True)
amin: torch.amin(x, 1) ; x.amin(0, keepdim=True)
aminmax: torch.aminmax(x) ; torch.aminmax(x, dim=1) ; x.aminmax(dim=0, keepdim=True)
argmax: x.argmax() ; torch.argmax(x, 1) ; x.argmax(dim=0, keepdim=True) ; x.argmax(-1)
argmin: x.argmin() ; torch.argmin(x, 1) ; x.argmin(dim=0, keepdim=True)
all: B.all() ; torch.all(B, 0) ; B.all(dim=1, keepdim=True) ; x.all() ; torch.all(m > -2, (0, 1)) ; U.all()
any: B.any() ; torch.any(B, 0) ; B.any(dim=1) ; I.any()
logsumexp: torch.logsumexp(x, 1) ; x.logsumexp((0, 1)) ; torch.logsumexp(x, dim=0, keepdim=True)
norm: x.norm() ; torch.norm(x, dim=1) ; x.norm(p=1) ; x.norm(2, 0) ; torch.norm(x, p=float('inf')) ; x.norm(p='fro') ; x.norm(dim=(0, 1), keepdim=True) ; torch.norm(x, 3, 1)
renorm: torch.renorm(x, 2, 0, 1.0)
count_nonzero: torch.count_nonzero(I) ; torch.count_nonzero(I, dim=0) ; I.count_nonzero((0, 1))
median: x.median() ; torch.median(x, 1) ; l.median() ; x.median(dim=0, keepdim=True) ; l[:11].median()
nanmedian: torch.nanmedian(N) ; torch.nanmedian(x, 1)
mode: torch.mode(I, 1) ; I.mode(0) ; torch.mode(L)
quantile: torch.quantile(x, 0.3) ; torch.quantile(x, torch.tensor([0.1, 0.5]), dim=1) ; torch.quantile(x, 0.5, 0, keepdim=True) ; torch.quantile(x, 0.35, dim=1, interpolation='lower') ; torch.quantile(x, 0.35, dim=1, interpolation='nearest')
nanquantile: torch.nanquantile(N, 0.5) ; torch.nanquantile(x, 0.25, dim=1)
nansum: torch.nansum(N, 0) ; x.nansum()
nanmean: torch.nanmean(N[:1]) ; x.nanmean(1)
kthvalue: torch.kthvalue(x, 2) ; x.kthvalue(1, dim=0, keepdim=True) ; torch.kthvalue(x, 3, 1)
cumsum: torch.cumsum(x, 1) ; x.cumsum(0) ; I.cumsum(dim=1) ; x.clone().cumsum_(1) ; B.cumsum(0)
cumprod: torch.cumprod(x, 1) ; x.cumprod(0) ; I.cumprod(1)
cummax: torch.cummax(x, 1) ; x.cummax(0)
cummin: torch.cummin(x, 1) ; x.cummin(0)
logcumsumexp: torch.logcumsumexp(x, 1) ; x.logcumsumexp(0)
diff: torch.diff(x) ; torch.diff(x, dim=0) ; torch.diff(x, n=2) ; torch.diff(l, prepend=l[:1]) ; I.diff()
trapezoid: torch.trapezoid(x) ; torch.trapezoid(x, dx=0.5) ; torch.trapezoid(x, v.cumsum(0), dim=1)
trapz: torch.trapz(x, dim=0)
cumulative_trapezoid: torch.cumulative_trapezoid(x) ; torch.cumulative_trapezoid(x, dx=0.5, dim=0)
gradient: torch.gradient(l) ; torch.gradient(x, spacing=2.0) ; torch.gradient(x, dim=1)
.cumprod_: x.clone().cumprod_(1)
.sum_to_size: x.sum_to_size(1, 4) ; m.sum_to_size((3, 1))
trace: torch.trace(s) ; s.trace() ; torch.trace(I)
dist: torch.dist(x, y, 1) ; torch.dist(x, v)
# ---- shapes ----
reshape: x.reshape(2, 6) ; torch.reshape(x, (-1,)) ; x.reshape((4, -1)) ; x.t().reshape(12) ; x.reshape(3, 2, 2)
view: x.view(2, 6) ; x.view(-1) ; x.view((4, 3)) ; x.detach().view(torch.int32).shape
.view_as: x.view_as(n[0].t()) ; l.view_as(x)
.reshape_as: l.reshape_as(x)
flatten: m.flatten() ; torch.flatten(m, 1) ; torch.flatten(m, start_dim=0, end_dim=1) ; a0.flatten()
unflatten: l.unflatten(0, (3, 4)) ; torch.unflatten(m, 2, (2, -1))
squeeze: x[None].squeeze() ; torch.squeeze(x[None, :, None], 0) ; x[:, None].squeeze(dim=1) ; x.squeeze(0) ; x[None, :, None].squeeze((0, 2))
unsqueeze: x.unsqueeze(0) ; torch.unsqueeze(x, -1) ; x.unsqueeze(dim=1)
permute: m.permute(2, 0, 1) ; torch.permute(m, (1, 0, 2)) ; m.permute((0, 2, 1)) ; m.permute(-1, 0, 1)
transpose: m.transpose(0, 1) ; torch.transpose(x, 0, 1) ; m.transpose(-1, -2) ; m.transpose(dim0=1, dim1=2)
swapaxes: torch.swapaxes(m, 0, 1) ; m.swapdims(0, 2)
swapdims: torch.swapdims(m, 0, 1)
t: x.t() ; torch.t(v) ; x.T ; m.mT ; x.H
adjoint: torch.adjoint(x) ; C.adjoint()
movedim: torch.movedim(m, 0, 2) ; m.movedim((0, 1), (1, 2))
moveaxis: torch.moveaxis(m, -1, 0)
expand: v.expand(3, 4) ; u[:, None].expand(-1, 4) ; v.expand((2, 3, -1)) ; a0.expand(2)
.expand_as: v.expand_as(x)
broadcast_to: torch.broadcast_to(v, (3, 4)) ; v.broadcast_to((2, 4))
broadcast_tensors: torch.broadcast_tensors(x, v) ; torch.broadcast_tensors(u[:, None], v)
broadcast_shapes: torch.broadcast_shapes((3, 1), (4,))
.repeat: x.repeat(2, 1) ; v.repeat(2) ; v.repeat(2, 3) ; x.repeat((2, 1, 1))
repeat_interleave: torch.repeat_interleave(x, 2, dim=0) ; v.repeat_interleave(2) ; torch.repeat_interleave(x, K, dim=0) ; torch.repeat_interleave(K)
tile: torch.tile(v, (2, 2)) ; x.tile(2) ; x.tile((2, 1))
cat: torch.cat([x, y]) ; torch.cat((x, y), 1) ; torch.cat([x, y], dim=-1) ; torch.cat([x, I]) ; torch.cat([torch.zeros(0), v])
concat: torch.concat([x, y], 0)
concatenate: torch.concatenate([x, y], 1) ; torch.concatenate([x, y], axis=1)
stack: torch.stack([x, y]) ; torch.stack((x, y), 1) ; torch.stack([x, y], dim=-1) ; torch.stack([a0, a0])
hstack: torch.hstack([x, y]) ; torch.hstack([v, v])
vstack: torch.vstack([x, y]) ; torch.vstack([v, v])
row_stack: torch.row_stack([v, v])
dstack: torch.dstack([x, y]) ; torch.dstack([v, v])
column_stack: torch.column_stack([v, v]) ; torch.column_stack([u, x])
split: torch.split(x, 2) ; x.split(2, dim=1) ; x.split([1, 2]) ; torch.split(x, [1, 3], 1)
.split_with_sizes: x.split_with_sizes([1, 2])
chunk: torch.chunk(x, 2) ; x.chunk(2, dim=1) ; x.chunk(3, -1) ; l.chunk(5)
tensor_split: torch.tensor_split(l, 5) ; torch.tensor_split(l, (2, 7)) ; x.tensor_split(2, dim=1)
hsplit: torch.hsplit(x, 2)
vsplit: torch.vsplit(n[0], 2)
dsplit: torch.dsplit(m, 2)
unbind: torch.unbind(x) ; x.unbind(1) ; torch.unbind(m, dim=-1)
flip: torch.flip(x, [0]) ; x.flip(0, 1) ; m.flip(-1) ; torch.flip(x, (1,))
roll: torch.roll(x, 1) ; x.roll(1, 0) ; torch.roll(x, (1, 2), (0, 1)) ; torch.roll(x, shifts=-1, dims=1)
narrow: torch.narrow(x, 1, 1, 2) ; x.narrow(0, -2, 2)
select: torch.select(x, 0, 1) ; x.select(1, -1) ; m.select(dim=2, index=0)
.unfold: l.unfold(0, 4, 2) ; x.unfold(1, 2, 1)
as_strided: torch.as_strided(l, (3, 3), (1, 2)) ; l.detach().as_strided((2, 2), (3, 1), 1)
atleast_1d: torch.atleast_1d(a0)
atleast_2d: torch.atleast_2d(v)
atleast_3d: torch.atleast_3d(x)
meshgrid: torch.meshgrid(u, v, indexing='ij') ; torch.meshgrid(u, v, indexing='xy') ; torch.meshgrid([u, v], indexing='ij')
cartesian_prod: torch.cartesian_prod(u, v[:2])
combinations: torch.combinations(v) ; torch.combinations(u, 2, with_replacement=True)
tril: torch.tril(s) ; s.tril(-1) ; m.tril(1) ; s.clone().tril_()
triu: torch.triu(s) ; s.triu(1) ; torch.triu(s, diagonal=-1) ; s.clone().triu_()
tril_indices: torch.tril_indices(3, 4) ; torch.tril_indices(3, 3, -1)
triu_indices: torch.triu_indices(3, 4) ; torch.triu_indices(3, 3, offset=1)
diag: torch.diag(v) ; torch.diag(s) ; s.diag(1) ; torch.diag(v, -1)
diagonal: torch.diagonal(s) ; torch.diagonal(m, 0, 1, 2) ; m.diagonal(dim1=-2, dim2=-1) ; s.diagonal(1)
diag_embed: torch.diag_embed(v) ; torch.diag_embed(x, offset=1)
diagflat: torch.diagflat(v) ; torch.diagflat(v, 1)
block_diag: torch.block_diag(x, s) ; torch.block_diag(v, a0)
narrow_copy: torch.narrow_copy(x, 1, 1, 2) ; x.narrow_copy(0, 1, 1)
unsafe_split: torch.unsafe_split(x, 2) ; torch.unsafe_chunk(x, 2, 1) ; x.unsafe_split(2, 1) ; x.unsafe_chunk(3) ; torch.split_with_sizes(x, [1, 3], 1) ; torch.unsafe_split_with_sizes(x, [1, 2]) ; x.unsafe_split_with_sizes([2, 1])
t_copy: torch.t_copy(x) ; torch.as_strided_copy(l.detach(), (2, 2), (3, 1)) ; torch.detach_copy(x.detach()) ; torch.diagonal_copy(s) ; torch.permute_copy(m, (1, 0, 2)) ; torch.squeeze_copy(x[None]) ; torch.transpose_copy(x, 0, 1) ; torch.unsqueeze_copy(x, 0)
.swapaxes_: x.detach().swapaxes_(0, 1) ; x.detach().swapdims_(0, 1)
.dim_order: x.dim_order() ; x.t().dim_order() ; m.permute(1, 2, 0).dim_order()
pixel_shuffle: torch.pixel_shuffle(l.reshape(1, 4, 1, 3), 2)
pixel_unshuffle: torch.pixel_unshuffle(l.reshape(1, 1, 2, 6), 2)
channel_shuffle: torch.channel_shuffle(l.reshape(1, 4, 1, 3), 2)
vander: torch.vander(v.detach()) ; torch.vander(v.detach(), 3, increasing=True)
.size: x.size() ; x.size(0) ; x.size(dim=-1) ; x.shape ; x.shape[1:] ; x.dim() ; x.ndimension() ; x.nelement() ; len(x) ; x.ndim
.stride: x.stride() ; x.t().stride() ; x.stride(0) ; x.is_contiguous() ; x.t().is_contiguous() ; x.storage_offset() ; x[1:].storage_offset() ; x.element_size() ; x.itemsize ; x.nbytes
.contiguous: x.t().contiguous() ; x.t().contiguous().stride() ; m[None].contiguous(memory_format=torch.channels_last).stride() ; m[None].contiguous(memory_format=torch.channels_last) * 2 ; m[None].clone(memory_format=torch.channels_last).stride() ; m[None].to(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last) ; m.is_contiguous(memory_format=torch.channels_last) ; m[None].is_contiguous(memory_format=torch.channels_last) ; m.contiguous(memory_format=torch.channels_last) ; m[None].to(memory_format=torch.channels_last).contiguous().stride() ; torch.zeros(2, 3, 2, 2, 2).to(torch.float64, memory_format=torch.channels_last_3d).stride() ; m[None].to(memory_format=torch.channels_last).dim_order() ; torch.zeros_like(m[None], memory_format=torch.channels_last).stride() ; torch.empty(1, 2, 3, 4, memory_format=torch.channels_last).stride() ; torch.nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last).weight.stride() ; torch.nn.functional.conv2d(m[None].to(memory_format=torch.channels_last), n[None, :, :2, :2].reshape(2, 2, 2, 2))
# ---- indexing ----
.__getitem__: x[0] ; x[:, 1] ; x[..., -1] ; x[1:, ::2] ; x[None] ; x[K] ; x[:, K] ; x[B] ; x[x > 0] ; x[K, K] ; x[K[:, None], K] ; x[1, 2] ; x[[0, 2]] ; m[:, K, 0] ; x[-1] ; x[T - 1] ; x[(0, 1)] ; x[torch.tensor([True, False, True])] ; m[0, ..., 1] ; x[:, [True, False, True, False]] ; x[G[:, 0]] ; I[B]
.__setitem__: put_in(x, lambda t: t.__setitem__(0, 1.0)) ; put_in(x, lambda t: t.__setitem__((slice(None), 1), u)) ; put_in(x, lambda t: t.__setitem__(B, 0.0)) ; put_in(x, lambda t: t.__setitem__(K, y)) ; put_in(x, lambda t: t.__setitem__((K, K), u)) ; put_in(I, lambda t: t.__setitem__(I > 0, 7)) ; put_in(x, lambda t: t.__setitem__(Ellipsis, v)) ; put_in(x, lambda t: t.__setitem__(x > 0, y[x > 0]))
index_select: torch.index_select(x, 0, K) ; x.index_select(1, K) ; torch.index_select(x, dim=0, index=K)
masked_select: torch.masked_select(x, B) ; x.masked_select(x > 0)
masked_fill: x.masked_fill(B, 0.5) ; torch.masked_fill(x, B, a0) ; x.clone().masked_fill_(B, -1) ; x.masked_fill(B[0], float('-inf'))
masked_scatter: x.masked_scatter(B, y) ; x.clone().masked_scatter_(B, y)
gather: torch.gather(x, 0, G) ; x.gather(1, G) ; torch.gather(x, 1, G[:, :2]) ; x.gather(dim=1, index=G) ; x.gather(1, G[:2])
scatter: torch.scatter(x, 0, G[:1, :3], y[:1, :3]) ; x.scatter(1, K[:, None], 2.5) ; torch.zeros(3, 4).scatter(1, K[:, None], u[:, None]) ; torch.zeros(3, 5).scatter_(1, G[:, :1], 1) ; x.detach().scatter(1, K[:, None], y[:, :1].detach(), reduce='multiply')
scatter_add: torch.zeros(3, 4).scatter_add(0, G, x) ; torch.scatter_add(x, 1, G, y) ; torch.zeros(3, 4).scatter_add_(1, G, y)
scatter_reduce: x.scatter_reduce(0, G, y, 'sum') ; x.scatter_reduce(0, G, y, 'mean') ; torch.scatter_reduce(x, 1, G, y, 'amax') ; x.scatter_reduce(1, G, y, reduce='amin', include_self=False) ; x.scatter_reduce(0, G, y, 'prod') ; x.scatter_reduce(0, G, y, 'sum', include_self=False)
index_add: torch.index_add(x, 0, K, y) ; x.index_add(0, K, y, alpha=2) ; x.clone().index_add_(1, K, y[:, :3])
index_copy: torch.index_copy(x, 0, K, y) ; x.clone().index_copy_(1, K, y[:, 1:])
index_fill: torch.index_fill(x, 0, K[:2], -1.0) ; x.clone().index_fill_(1, K, 2.0)
index_put: torch.index_put(x, (K, K), u) ; x.clone().index_put_((K, K), u, accumulate=True) ; x.index_put((K,), v)
index_reduce: x.index_reduce(0, torch.tensor([0, 0, 2]), y, 'prod') ; x.index_reduce(0, torch.tensor([0, 0, 2]), y, 'amax')
take: torch.take(x, torch.tensor([0, 5, -1])) ; x.take(G)
take_along_dim: torch.take_along_dim(x, x.argsort(1), 1) ; torch.take_along_dim(x, torch.tensor([1, 2])) ; x.take_along_dim(G[:1], 0)
put: torch.put(x, torch.tensor([0, 5]), v[:2]) ; x.clone().put_(torch.tensor([0, 5, 0]), u, accumulate=True)
nonzero: torch.nonzero(B) ; I.nonzero() ; torch.nonzero(B, as_tuple=True) ; B.nonzero(as_tuple=True)
argwhere: torch.argwhere(B) ; B.argwhere()
.scatter_reduce_: x.clone().scatter_reduce_(0, G, y, 'sum') ; x.clone().index_reduce_(0, torch.tensor([0, 0, 2]), y, 'amin') ; torch.index_reduce(x, 0, torch.tensor([0, 0, 2]), y, 'mean') ; torch.masked_scatter(x, B, y)
select_scatter: torch.select_scatter(x, v, 0, 1)
slice_scatter: torch.slice_scatter(x, y[:2], 0, 1) ; torch.slice_scatter(x, y[:, :2], 1, 0, 4, 2)
diagonal_scatter: torch.diagonal_scatter(s, u) ; torch.diagonal_scatter(s, u[:2], 1)
unravel_index: torch.unravel_index(torch.tensor([0, 5, 11]), (3, 4))
.fill_diagonal_: s.clone().fill_diagonal_(0) ; x.clone().fill_diagonal_(2.5)
.fill_: x.clone().fill_(2) ; torch.zeros(2).fill_(True)
.zero_: x.clone().zero_()
.t_: x.detach().t_() ; x.detach().unsqueeze_(0) ; x.detach()[None].squeeze_() ; x.detach().transpose_(0, 1)
.copy_: torch.zeros(3, 4).copy_(x) ; x.clone().copy_(v) ; I.clone().copy_(x)
# ---- sorting and searching ----
sort: torch.sort(x) ; x.sort(0, descending=True) ; torch.sort(x, dim=1) ; I.sort(stable=True, dim=1) ; x.sort().values ; torch.sort(x, 1, True)
argsort: torch.argsort(x) ; x.argsort(0, descending=True) ; x.argsort(dim=1) ; I.argsort(dim=1, stable=True)
msort: torch.msort(x)
topk: torch.topk(x, 2) ; x.topk(2, dim=0, largest=False) ; torch.topk(x, 3, 1, True, True) ; l.topk(4).indices
unique: torch.unique(I) ; I.unique(return_counts=True) ; torch.unique(I, return_inverse=True) ; torch.unique(K, sorted=True, return_inverse=True, return_counts=True) ; torch.unique(G, dim=0)
unique_consecutive: torch.unique_consecutive(L) ; torch.unique_consecutive(L, return_inverse=True, return_counts=True)
searchsorted: torch.searchsorted(D.sort()[0], d) ; torch.searchsorted(torch.sort(x, 1)[0].detach(), y, right=True) ; torch.searchsorted(D.sort()[0], 0.7) ; torch.searchsorted(D.sort()[0], d, side='right')
bucketize: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])) ; torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0]), right=True)
bincount: torch.bincount(L) ; torch.bincount(L, minlength=9) ; L.bincount(l.detach())
histc: torch.histc(x, 5, -2, 2) ; x.detach().histc(4)
histogram: torch.histogram(x.detach(), 4) ; torch.histogram(x.detach(), torch.tensor([-2.0, 0.0, 1.0, 2.0])) ; torch.histogram(x.detach(), 4, range=(-1.0, 1.0), density=True)
# ---- products ----
matmul: x @ n[0] ; torch.matmul(x.detach(), v.detach(), out=torch.zeros(3)) ; x @ v ; u @ x ; v @ v ; m @ n ; torch.matmul(m, v) ; m @ n[0] ; torch.matmul(x, n) ; I @ I.t() ; C @ C.t()
mm: torch.mm(x, y.t()) ; x.mm(y.t())
bmm: torch.bmm(m, n) ; m.bmm(n)
mv: torch.mv(x, v) ; x.mv(v)
dot: torch.dot(v, v) ; v.dot(v)
vdot: torch.vdot(v, v) ; torch.vdot(C[0], C[1])
inner: torch.inner(x, y) ; torch.inner(v, v)
outer: torch.outer(u, v) ; u.outer(v)
ger: torch.ger(u, v)
addmm: torch.addmm(s, x, y.t()) ; s.addmm(x, y.t(), beta=0.5, alpha=2) ; torch.addmm(u, x, y.t()) ; s.clone().addmm_(x, y.t())
addmv: torch.addmv(u, x, v) ; u.addmv(x, v, beta=2)
addr: torch.addr(x, u, v) ; x.addr(u, v, beta=0.5, alpha=2)
addbmm: torch.addbmm(s, m, n) ; s.addbmm(m, n, alpha=0.5)
baddbmm: torch.baddbmm(s.expand(2, 3, 3), m, n) ; torch.baddbmm(s[None], m, n, beta=0.5, alpha=2)
einsum: torch.einsum('ij,jk->ik', x, n[0]) ; torch.einsum('bij,bjk->bik', m, n) ; torch.einsum('ij->ji', x) ; torch.einsum('ii', s) ; torch.einsum('i,j->ij', u, v) ; torch.einsum('...ij,...jk', m, n) ; torch.einsum('bij,ij->b', m, x) ; torch.einsum('ij,ij->', x, y) ; torch.einsum('bhi,bij,j->b', n[:, :, :3].transpose(1, 2)[:, :3, :], m.transpose(1, 2)[:, :, :3].transpose(1, 2)[:, :3, :3].permute(0, 2, 1)[:, :, :].reshape(2, 3, 3)[:, :3].repeat(1, 2, 1)[:, :4], u) ; torch.einsum('ii->i', s)
tensordot: torch.tensordot(x, n[0], 1) ; torch.tensordot(m, n, dims=([1], [2])) ; torch.tensordot(x, y, dims=2)
.addmm_: s.clone().addbmm_(m, n) ; u.clone().addmv_(x, v) ; x.clone().addr_(u, v) ; s.expand(2, 3, 3).clone().baddbmm_(m, n) ; x.clone().renorm_(2, 0, 1.0) ; torch.addmv_(u.clone(), x, v)
kron: torch.kron(x, s) ; torch.kron(u, v)
cross: torch.cross(s, h, dim=1) ; torch.cross(s, h, dim=0) ; torch.linalg.cross(s, h)
cdist: torch.cdist(x, y) ; torch.cdist(x, y, p=1.0) ; torch.cdist(m, m + 1)
pdist: torch.pdist(x)
cosine_similarity: torch.cosine_similarity(x, y) ; torch.cosine_similarity(x, y, dim=0)
pairwise_distance: torch.pairwise_distance(x, y)
chain_matmul: torch.chain_matmul(x, n[0], s)
cov: torch.cov(x) ; x.cov(correction=0) ; torch.cov(l)
corrcoef: torch.corrcoef(x)
matrix_power: torch.matrix_power(s, 3) ; s.matrix_power(0) ; torch.linalg.matrix_power(h, -2)
matrix_exp: torch.matrix_exp(s * 0.3) ; torch.linalg.matrix_exp(s)
# ---- linear algebra ----
det: torch.det(s) ; s.det() ; torch.linalg.det(h) ; torch.det(u[:, None] * u + v[:3, None] * v[:3]) ; torch.det(torch.stack([s, u[:, None] * u + v[:3, None] * v[:3]])) ; torch.det(s - s) ; torch.det(torch.complex(s, h))
logdet: torch.logdet(h) ; h.logdet()
slogdet: torch.slogdet(s) ; torch.linalg.slogdet(h) ; torch.slogdet(torch.complex(s, h)) ; torch.slogdet(torch.complex(s, h))[0]
inverse: torch.inverse(s) ; s.inverse()
pinverse: torch.pinverse(x)
cholesky_solve: torch.cholesky_solve(x, torch.linalg.cholesky(h))
cholesky_inverse: torch.cholesky_inverse(torch.linalg.cholesky(h))
triangular_solve: torch.triangular_solve(x, h, upper=False)[0]
svd: torch.svd(x)[1] ; (lambda r: r[0] @ torch.diag(r[1]) @ r[2].t())(torch.svd(x))
lu_solve: torch.lu_solve(x, *torch.linalg.lu_factor(h))
linalg.inv: torch.linalg.inv(s) ; torch.linalg.inv(torch.stack([s, h]))
linalg.solve: torch.linalg.solve(s, u) ; torch.linalg.solve(h, x) ; torch.linalg.solve(torch.stack([s, h]), x)
linalg.solve_triangular: torch.linalg.solve_triangular(h.tril(), x, upper=False) ; torch.linalg.solve_triangular(h.triu(), x, upper=True) ; torch.linalg.solve_triangular(h.tril(), x.t(), upper=False, left=False) ; torch.linalg.solve_triangular(s.tril(), x, upper=False, unitriangular=True)
linalg.cholesky: torch.linalg.cholesky(h) ; torch.linalg.cholesky(h, upper=True)
linalg.cholesky_ex: torch.linalg.cholesky_ex(h)
linalg.qr: torch.linalg.qr(s).Q.abs() ; torch.linalg.qr(s).R.abs() ; (lambda r: r[0] @ r[1])(torch.linalg.qr(n[0])) ; torch.linalg.qr(n[0].detach(), mode='r').R.abs() ; torch.linalg.qr(x).R.abs() ; torch.linalg.qr(m).Q.abs() ; (lambda r: r[0].sum() + r[1].abs().exp())(torch.linalg.qr(x, mode='complete')) ; torch.linalg.qr(n[0], mode='complete').Q
linalg.svd: torch.linalg.svd(x, full_matrices=False).S ; (lambda r: r[0] @ torch.diag(r[1]) @ r[2])(torch.linalg.svd(x, full_matrices=False)) ; torch.linalg.svd(x)[0].abs() ; torch.linalg.svd(x, full_matrices=False)[2].abs()
linalg.svdvals: torch.linalg.svdvals(x)
linalg.eigh: torch.linalg.eigh(h)[0] ; torch.linalg.eigh(h)[1].abs() ; (lambda r: r[1] @ torch.diag(r[0].exp()) @ r[1].t())(torch.linalg.eigh(h))
linalg.eigvalsh: torch.linalg.eigvalsh(h)
linalg.eigvals: torch.linalg.eigvals(h.detach()).real.sort()[0] ; torch.linalg.eigvals(s).abs().sort()[0] ; torch.linalg.eigvals(torch.stack([s, s.t() * 2])).real.sum(1)
linalg.eig: torch.linalg.eig(h.detach())[0].real.sort()[0] ; (lambda r: (r[1] @ torch.diag(r[0].exp()) @ torch.linalg.inv(r[1])).real)(torch.linalg.eig(s)) ; (lambda r: r[1].abs() @ r[0].abs())(torch.linalg.eig(s)) ; (lambda r: r[1] @ torch.diag(r[0] ** 2) @ torch.linalg.inv(r[1]))(torch.linalg.eig(Z * a0)) ; (lambda r: r[1][0].abs().sum())(torch.linalg.eig(torch.complex(s, h)))
linalg.lstsq: torch.linalg.lstsq(n[0], v[:, None]).solution
linalg.lu_factor: torch.linalg.lu_factor(h)
linalg.lu: torch.linalg.lu(h)
linalg.lu_solve: torch.linalg.lu_solve(*torch.linalg.lu_factor(h), x)
linalg.norm: torch.linalg.norm(x) ; torch.linalg.norm(v, 1) ; torch.linalg.norm(x, 'nuc') ; torch.linalg.norm(x, 2) ; torch.linalg.norm(x, dim=1) ; torch.linalg.norm(x, float('inf'))
linalg.vector_norm: torch.linalg.vector_norm(x) ; torch.linalg.vector_norm(x, 3, dim=1) ; torch.linalg.vector_norm(x, 0) ; torch.linalg.vector_norm(x, float('inf'), dim=0, keepdim=True) ; torch.linalg.vector_norm(x, -float('inf'))
linalg.matrix_norm: torch.linalg.matrix_norm(x) ; torch.linalg.matrix_norm(m, 'nuc') ; torch.linalg.matrix_norm(x, 1) ; torch.linalg.matrix_norm(x, -2)
linalg.pinv: torch.linalg.pinv(x) ; torch.linalg.pinv(n[0])
linalg.matrix_rank: torch.linalg.matrix_rank(x) ; torch.linalg.matrix_rank(torch.ones(3, 3))
linalg.cond: torch.linalg.cond(h) ; torch.linalg.cond(h.detach(), 'fro')
linalg.multi_dot: torch.linalg.multi_dot([x, n[0], s]) ; torch.linalg.multi_dot([u, x])
linalg.vecdot: torch.linalg.vecdot(x, y) ; torch.linalg.vecdot(x, y, dim=0)
linalg.matmul: torch.linalg.matmul(x, n[0])
linalg.diagonal: torch.linalg.diagonal(m)
linalg.vander: torch.linalg.vander(v) ; torch.linalg.vander(v, N=2)
linalg.tensorsolve: torch.linalg.tensorsolve(torch.stack([h, s, h.t()])[:, None].reshape(3, 3, 3)[0].reshape(3, 3), u)
linalg.tensorinv: torch.linalg.tensorinv(h, ind=1)
linalg.inv_ex: torch.linalg.inv_ex(h)
linalg.solve_ex: torch.linalg.solve_ex(h, x)
linalg.householder_product: torch.linalg.householder_product(torch.tensor([[1.0, 0], [0.5, 1], [0.2, 0.3]]), torch.tensor([1.2, 0.9]))
lu_unpack: torch.lu_unpack(*torch.linalg.lu_factor(h)) ; torch.linalg.lu_factor_ex(h)
nuclear_norm: torch.nuclear_norm(x) ; torch.frobenius_norm(x, [0, 1]) ; torch.orgqr(torch.tensor([[1.0, 0], [0.5, 1], [0.2, 0.3]]), torch.tensor([1.2, 0.9]))
# ---- special ----
special.expit: torch.special.expit(x)
special.digamma: torch.special.digamma(p) ; torch.special.psi(p)
special.entr: torch.special.entr(p)
special.erf: torch.special.erf(x) ; torch.special.erfc(x)
special.erfcx: torch.special.erfcx(x)
special.erfinv: torch.special.erfinv(q)
special.exp2: torch.special.exp2(x) ; torch.special.expm1(x)
special.gammaln: torch.special.gammaln(p)
special.gammainc: torch.special.gammainc(p.detach(), q.detach()) ; torch.special.gammaincc(p.detach(), q.detach())
special.i0: torch.special.i0(x) ; torch.special.i0e(x) ; torch.special.i1(x) ; torch.special.i1e(x)
special.bessel_j0: torch.special.bessel_j0(x.detach()) ; torch.special.bessel_j1(x.detach()) ; torch.special.bessel_y0(p.detach()) ; torch.special.bessel_y1(p.detach())
special.log_ndtr: torch.special.log_ndtr(x)
special.ndtr: torch.special.ndtr(x)
special.ndtri: torch.special.ndtri(q)
special.log1p: torch.special.log1p(p)
special.log_softmax: torch.special.log_softmax(x, 1) ; torch.special.softmax(x, 0)
special.logit: torch.special.logit(q)
special.logsumexp: torch.special.logsumexp(x, 1)
special.multigammaln: torch.special.multigammaln(p + 2, 2)
special.polygamma: torch.special.polygamma(1, p)
special.round: torch.special.round(x)
special.sinc: torch.special.sinc(p)
special.xlog1py: torch.special.xlog1py(x, p) ; torch.special.xlogy(x, p)
special.zeta: torch.special.zeta(p.detach() + 1, q.detach())
special.modified_bessel_i0: torch.special.modified_bessel_i0(p.detach()) ; torch.special.modified_bessel_k0(p.detach()) ; torch.special.modified_bessel_i1(p.detach()) ; torch.special.modified_bessel_k1(p.detach())
special.chebyshev_polynomial_t: torch.special.chebyshev_polynomial_t(q.detach(), 3) ; torch.special.hermite_polynomial_h(q.detach(), 3) ; torch.special.legendre_polynomial_p(q.detach(), 3) ; torch.special.laguerre_polynomial_l(q.detach(), 3)
special.chebyshev_polynomial_u: torch.special.chebyshev_polynomial_u(q.detach(), 3) ; torch.special.chebyshev_polynomial_v(q.detach(), 3) ; torch.special.chebyshev_polynomial_w(q.detach(), 3) ; torch.special.hermite_polynomial_he(q.detach(), 3) ; torch.special.shifted_chebyshev_polynomial_t(q.detach(), 3) ; torch.special.shifted_chebyshev_polynomial_u(q.detach(), 3) ; torch.special.shifted_chebyshev_polynomial_v(q.detach(), 3) ; torch.special.shifted_chebyshev_polynomial_w(q.detach(), 3)
special.airy_ai: torch.special.airy_ai(q.detach()) ; torch.special.scaled_modified_bessel_k0(p.detach()) ; torch.special.scaled_modified_bessel_k1(p.detach()) ; torch.special.spherical_bessel_j0(p.detach())
# ---- Fourier ----
fft.fft: torch.fft.fft(x) ; torch.fft.fft(x, n=5, dim=0) ; torch.fft.fft(C, norm='ortho')
fft.ifft: torch.fft.ifft(C) ; torch.fft.ifft(x, dim=0)
fft.rfft: torch.fft.rfft(x) ; torch.fft.rfft(x, 6, norm='forward')
fft.irfft: torch.fft.irfft(torch.fft.rfft(x)) ; torch.fft.irfft(C, n=5)
fft.fft2: torch.fft.fft2(x) ; torch.fft.ifft2(C)
fft.rfft2: torch.fft.rfft2(x) ; torch.fft.irfft2(torch.fft.rfft2(x), s=(3, 4))
fft.fftn: torch.fft.fftn(m) ; torch.fft.ifftn(m, dim=(0, 1))
fft.rfftn: torch.fft.rfftn(m) ; torch.fft.irfftn(torch.fft.rfftn(m), s=(2, 3, 4))
fft.hfft: torch.fft.hfft(C) ; torch.fft.ihfft(x)
fft.hfftn: torch.fft.hfftn(C) ; torch.fft.hfft2(C, s=(3, 5)) ; torch.fft.ihfftn(x) ; torch.fft.ihfft2(x)
fft.fftfreq: torch.fft.fftfreq(5) ; torch.fft.fftfreq(6, 0.5) ; torch.fft.rfftfreq(6)
fft.fftshift: torch.fft.fftshift(x) ; torch.fft.ifftshift(x, dim=1)
stft: torch.stft(l, 4, 2, window=torch.hann_window(4), return_complex=True)
istft: torch.istft(torch.stft(l, 4, 2, window=torch.hann_window(4), return_complex=True), 4, 2, window=torch.hann_window(4), length=12)
# ---- creation ----
tensor: torch.tensor([1, 2]) ; torch.tensor([1.0, 2]) ; torch.tensor(3) ; torch.tensor(2.5) ; torch.tensor([True]) ; torch.tensor([1, 2], dtype=torch.float64) ; torch.tensor([[1, 2], [3, 4.5]]) ; torch.tensor([]) ; torch.tensor([1j]) ; torch.tensor([a0.item(), 2])
as_tensor: torch.as_tensor([1, 2]) ; torch.as_tensor(x) ; torch.as_tensor(3.5)
asarray: torch.asarray([1, 2])
zeros: torch.zeros(2, 3) ; torch.zeros((2,), dtype=torch.int64) ; torch.zeros(()) ; torch.zeros([2, 1]) ; torch.zeros(size=(2,))
ones: torch.ones(2, 3) ; torch.ones(2, dtype=torch.bool)
full: torch.full((2, 3), 1.5) ; torch.full((2,), 3) ; torch.full((2,), True) ; torch.full([2], 1, dtype=torch.float32)
empty: torch.empty(2, 3).shape ; torch.empty((2,), dtype=torch.int32).dtype
empty_strided: torch.empty_strided((2, 3), (3, 1)).shape
arange: torch.arange(5) ; torch.arange(1, 4) ; torch.arange(0, 1, 0.25) ; torch.arange(5.0) ; torch.arange(5, 0, -2) ; torch.arange(3, dtype=torch.float32) ; torch.arange(start=0, end=5, step=2)
range: torch.range(0, 3)
linspace: torch.linspace(0, 1, 5) ; torch.linspace(-1, 1, steps=3) ; torch.linspace(3, 3, 1) ; torch.linspace(0, 10, 4, dtype=torch.float64)
logspace: torch.logspace(0, 2, 3) ; torch.logspace(0, 3, 4, base=2)
eye: torch.eye(3) ; torch.eye(2, 3) ; torch.eye(2, dtype=torch.int64)
zeros_like: torch.zeros_like(x) ; torch.zeros_like(I) ; torch.zeros_like(x, dtype=torch.int32)
ones_like: torch.ones_like(x) ; torch.ones_like(B)
full_like: torch.full_like(x, 2) ; torch.full_like(I, 3)
empty_like: torch.empty_like(x).shape ; torch.empty_like(I).dtype
.new_zeros: x.new_zeros(2, 3) ; I.new_zeros((2,)) ; x.new_zeros(2, dtype=torch.int64)
.new_ones: x.new_ones(2) ; d.new_ones((1, 2))
.new_full: x.new_full((2,), 3) ; I.new_full((2, 2), 7)
.new_empty: x.new_empty(3).shape
.new_tensor: x.new_tensor([1, 2]) ; I.new_tensor([1.0])
hann_window: torch.hann_window(6) ; torch.hann_window(6, periodic=False)
hamming_window: torch.hamming_window(6) ; torch.hamming_window(6, False)
blackman_window: torch.blackman_window(6)
bartlett_window: torch.bartlett_window(6)
kaiser_window: torch.kaiser_window(6, True, 8.0)
from_numpy: torch.from_numpy(numpy.arange(3)) ; torch.from_numpy(numpy.eye(2))
frombuffer: torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8)
# ---- dtypes, devices and Python ----
.to: x.to(torch.float64) ; x.to(torch.int64) ; x.to('cpu') ; x.to(I) ; x.to(dtype=torch.float16) ; x.to('cpu', torch.float64) ; x.to(torch.device('cpu')) ; I.to(torch.bool) ; x.to(device='cpu', dtype=torch.float64, non_blocking=True)
.type: x.type(torch.float64) ; x.type() ; I.type() ; x.type('torch.DoubleTensor') ; x.type_as(I)
.float: I.float() ; x.double() ; x.half() ; x.int() ; x.long() ; x.bool() ; I.short() ; J.byte() ; I.char() ; x.bfloat16().float() ; x.cfloat() ; x.cdouble()
.cpu: x.cpu() ; x.is_cuda ; x.is_cpu ; x.get_device() ; x.device.type ; x.is_sparse ; x.layout ; x.is_quantized
.item: a0.item() ; x[0, 0].item() ; I[0, 0].item() ; B[0, 0].item() ; float(a0) ; int(T) ; bool(B[0, 0]) ; T.__index__() ; C[0, 0].item()
.tolist: I.tolist() ; T.tolist() ; B.tolist() ; a0.tolist() ; D.tolist()
.numpy: x.detach().numpy().shape ; I.numpy().tolist() ; str(I.numpy().dtype) ; x.numpy(force=True).dtype.name
.dtype: x.dtype ; I.dtype ; B.dtype ; C.dtype ; H.dtype ; x.dtype.is_floating_point ; I.dtype.itemsize ; torch.float32 is torch.float
.requires_grad: x.requires_grad ; I.requires_grad ; x.is_leaf ; (x * 2).is_leaf ; (x * 2).requires_grad ; x.grad ; x.detach().requires_grad ; (x > 0).requires_grad ; x.grad_fn ; x.data.requires_grad
.is_signed: x.is_signed() ; U.is_signed() ; a0.is_nonzero() ; x.is_inference() ; x.is_same_size(y) ; x.is_conj() ; x.is_pinned()
.apply_: x.detach().clone().apply_(lambda t: t * 2 + 1) ; x.detach().clone().map_(y.detach(), lambda a, b: a - b)
.resize_: x.detach().resize_(2, 3) ; x.detach().clone().resize_as_(s).shape ; x.detach().set_(y.detach()) ; x.is_set_to(x) ; x.detach().is_set_to(x.detach().t()) ; x.to_dense() ; x.resolve_neg() ; torch.resolve_neg(x) ; x.is_neg() ; torch.is_neg(x) ; x.is_distributed() ; torch.is_inference(x) ; torch.get_device(x) ; x.pin_memory is not None ; x.share_memory_() is x ; x.new([1.0, 2.0]) ; x.new(2, 3).shape
.__contains__: 1.0 in torch.ones(2) ; 3.0 in torch.ones(2) ; complex(torch.tensor(1 + 2j)) ; +x ; bool(torch.tensor([1.0])) ; [float(t) for t in v] ; divmod(7, 2) ; x.detach().__array__().shape ; hash(x) == hash(x) ; list(map(int, K)) ; max(v.detach()).item() ; numpy.asarray(x.detach()).sum() > -100 ; numpy.sum(x.detach().numpy()).dtype
is_tensor: torch.is_tensor(x) ; torch.is_tensor(3) ; torch.is_nonzero(T) ; torch.is_same_size(x, y) ; torch.is_signed(x) ; isinstance(x, torch.Tensor) ; torch.is_storage(x) ; torch.is_conj(x)
result_type: torch.result_type(x, I) ; torch.result_type(I, 1.5) ; torch.result_type(H, a0) ; torch.result_type(x, 1j) ; torch.result_type(U, -1)
promote_types: torch.promote_types(torch.int32, torch.float16) ; torch.promote_types(torch.uint8, torch.int8) ; torch.promote_types(torch.float16, torch.bfloat16) ; torch.promote_types(torch.complex64, torch.float64) ; torch.promote_types(torch.bool, torch.uint8) ; torch.promote_types(torch.uint8, torch.int64)
can_cast: torch.can_cast(torch.float32, torch.int32) ; torch.can_cast(torch.int32, torch.float16) ; torch.can_cast(torch.float64, torch.float32) ; torch.can_cast(torch.bool, torch.uint8) ; torch.can_cast(torch.int64, torch.uint8) ; torch.can_cast(torch.int8, torch.bool)
finfo: torch.finfo(torch.float32).eps ; torch.finfo(torch.float64).max ; torch.finfo(torch.float16).tiny ; torch.finfo(torch.bfloat16).eps ; torch.finfo(torch.float32).min ; torch.finfo().bits ; torch.finfo(torch.bfloat16).max ; torch.finfo(torch.float32)
iinfo: torch.iinfo(torch.int32).max ; torch.iinfo(torch.uint8).max ; torch.iinfo(torch.int64).min ; torch.iinfo(torch.int8).bits ; torch.iinfo(torch.int16)
get_num_threads: torch.is_warn_always_enabled() ; torch.is_autocast_enabled() ; torch.are_deterministic_algorithms_enabled() ; torch.get_float32_matmul_precision() ; torch.from_dlpack(x.detach())
get_default_dtype: torch.get_default_dtype()
Size: torch.Size([2, 3]) ; torch.Size([2, 3]).numel() ; torch.Size([2]) + (3,) ; torch.Size([1, 2, 3])[1:] ; torch.Size([1, 2])[0]
device: torch.device('cuda:1') ; torch.device('cpu') ; torch.device('cuda', 1).index ; str(torch.device('cuda:1')) ; torch.device('cpu') == x.device ; torch.device('cuda').index ; torch.device(x.device)
numel: torch.numel(x) ; x.numel()
typename: torch.typename(x)
set_printoptions: repr(x) ; repr(I) ; repr(B) ; str(a0) ; repr(m) ; repr(C.detach()) ; repr(d.detach()) ; repr(H) ; repr(E) ; repr(torch.arange(2000)) ; repr(N) ; repr(x.detach() * 1e6) ; repr(x.detach() * 1e-6) ; repr(torch.tensor([1.0, 2.0])) ; repr(torch.tensor([])) ; repr(torch.zeros(2, 2)) ; repr(torch.ones(40, 40)) ; repr(torch.tensor([0.1, 1000.5])) ; repr(torch.tensor([1e10, 1])) ; repr(torch.zeros(0, 2, dtype=torch.int64)) ; repr(torch.tensor(True)) ; repr(torch.full((2,), float('nan'))) ; repr(x.t().reshape(2, 6).detach() * 100) ; f'{a0:.2f}' ; f'{T}' ; format(T, 'd')
# ---- what is refused: the type of the exception is compared ----
errors.shapes: x + torch.ones(5) ; x @ x ; x.view(5, 5) ; x.reshape(7) ; torch.cat([x, s]) ; torch.stack([x, s]) ; x.expand(2, 4) ; torch.mm(x, x) ; torch.bmm(x, x) ; torch.dot(x, x) ; x.t().view(-1) ; x.permute(0) ; m.t() ; torch.einsum('ij,jk', x, x) ; x.sum(5) ; x.softmax(3) ; x.squeeze(4) ; torch.broadcast_tensors(x, s) ; x.split([1, 1]) ; x.unflatten(0, (2, 2)) ; x.chunk(0)
errors.index: x[5] ; x[0, 0, 0] ; x[torch.tensor([7])] ; x.index_select(0, torch.tensor([9])) ; len(a0) ; x[1.5] ; x.select(0, 8) ; x.narrow(0, 2, 5) ; iter(a0)
errors.dtypes: I.clone().add_(0.5) ; torch.tensor('a') ; torch.zeros(2, dtype='float32') ; I.mean() ; B - B ; -B ; torch.tensor([1]).requires_grad_() ; I.clone().div_(2) ; x.masked_fill(I, 0) ; torch.inverse(I[:, :3]) ; torch.bitwise_and(x, x) ; torch.promote_types(1, 2) ; torch.iinfo(torch.float32) ; torch.finfo(torch.int32) ; C.imag + x.imag
errors.values: torch.zeros(-1) ; torch.linalg.cholesky(-h) ; torch.linalg.inv(torch.zeros(2, 2)) ; x.topk(9) ; torch.arange(0, 5, -1) ; torch.arange(0, 5, 0) ; x.item() ; bool(x) ; int(x) ; x.numpy() ; torch.device('what') ; torch.randperm(-1) ; torch.randint(5, 5, (2,)) ; torch.clamp(x) ; torch.kthvalue(l, 13) ; torch.meshgrid(v, v, indexing='zz')
errors.grad: x.backward() ; x.detach().sum().backward() ; torch.autograd.grad(x.sum(), y) ; leaf_written(x) ; twice(x) ; written_over(x) ; x.sum().backward(torch.ones(3)) ; (x * 2).requires_grad_(False)
# ---- derivatives ----
autograd.grad: torch.autograd.grad((x * y).sum(), [x, y]) ; torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)[0].sum() ; torch.autograd.grad(x * 2, x, grad_outputs=y)[0] ; torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1]
autograd.functional.jacobian: torch.autograd.functional.jacobian(lambda t: t.exp(), v) ; torch.autograd.functional.jacobian(lambda t: x @ t, v) ; torch.autograd.functional.jacobian(lambda a, b: a * b, (v, v * 2))
autograd.functional.hessian: torch.autograd.functional.hessian(lambda t: (t ** 3).sum(), v) ; torch.autograd.functional.hessian(lambda t: t.sin().prod(), v)
autograd.functional.vjp: torch.autograd.functional.vjp(lambda t: t.exp(), v, v * 2)
autograd.functional.jvp: torch.autograd.functional.jvp(lambda t: t.exp(), v, v * 2)
autograd.functional.vhp: torch.autograd.functional.vhp(lambda t: (t ** 3).sum(), v, v * 2)
autograd.functional.hvp: torch.autograd.functional.hvp(lambda t: (t ** 3).sum(), v, v * 2)
no_grad: under(torch.no_grad(), lambda: (x * 2).requires_grad) ; under(torch.enable_grad(), lambda: (x * 2).requires_grad) ; under(torch.set_grad_enabled(False), lambda: (x * 2).requires_grad) ; under(torch.inference_mode(), lambda: (x * 2).requires_grad) ; torch.no_grad()(lambda: torch.is_grad_enabled())() ; torch.is_grad_enabled()
.detach_: (x * 2).detach_().requires_grad
.requires_grad_: x.detach().requires_grad_().requires_grad
.backward: through(lambda a: (a * a).sum(), v) ; through(lambda a: (a[1:] * a[:-1]).exp().sum(), v)
# ---- distributions ----
distributions.Normal: torch.distributions.Normal(x, p).log_prob(y) ; torch.distributions.Normal(x, p).entropy() ; torch.distributions.Normal(x, p).cdf(y) ; torch.distributions.Normal(x, p).icdf(q) ; torch.distributions.Normal(x, p).variance ; torch.distributions.kl_divergence(torch.distributions.Normal(x, p), torch.distributions.Normal(y, q)) ; torch.distributions.Normal(0.0, 1.0).log_prob(x) ; torch.distributions.Independent(torch.distributions.Normal(x, p), 1).log_prob(y) ; torch.distributions.Independent(torch.distributions.Normal(x, p), 1).entropy() ; torch.distributions.Normal(x, p).batch_shape
distributions.LogNormal: torch.distributions.LogNormal(x, p).log_prob(q) ; torch.distributions.LogNormal(x, q).mean ; torch.distributions.LogNormal(x, q).variance ; torch.distributions.LogNormal(x, q).entropy() ; torch.distributions.HalfNormal(p).log_prob(q) ; torch.distributions.HalfNormal(p).mean
distributions.Laplace: torch.distributions.Laplace(x, p).log_prob(y) ; torch.distributions.Laplace(x, p).entropy()
distributions.Uniform: torch.distributions.Uniform(x - 3, y + 4).log_prob(q) ; torch.distributions.Uniform(x - 3, y + 4).entropy() ; torch.distributions.Uniform(x - 3, y + 4).mean ; torch.distributions.Uniform(x - 3, y + 4).variance
distributions.Exponential: torch.distributions.Exponential(p).log_prob(q) ; torch.distributions.Exponential(p).entropy() ; torch.distributions.kl_divergence(torch.distributions.Exponential(p), torch.distributions.Exponential(q))
distributions.Gamma: torch.distributions.Gamma(p, q).log_prob(p + 1) ; torch.distributions.Gamma(p, q).entropy() ; torch.distributions.Gamma(p, q).variance ; torch.distributions.kl_divergence(torch.distributions.Gamma(p, q), torch.distributions.Gamma(q, p))
distributions.Beta: torch.distributions.Beta(p, p + 1).log_prob(q) ; torch.distributions.Beta(p, q).mean ; torch.distributions.Beta(p, q).variance
distributions.Dirichlet: torch.distributions.Dirichlet(p).log_prob(torch.softmax(x, -1)) ; torch.distributions.Dirichlet(p).mean ; torch.distributions.Dirichlet(p).variance
distributions.MultivariateNormal: torch.distributions.MultivariateNormal(u, h).log_prob(s) ; torch.distributions.MultivariateNormal(u, h).entropy() ; torch.distributions.MultivariateNormal(u, scale_tril=torch.linalg.cholesky(h)).covariance_matrix ; torch.distributions.kl_divergence(torch.distributions.MultivariateNormal(u, h), torch.distributions.MultivariateNormal(u * 2, h + torch.eye(3)))
distributions.Bernoulli: torch.distributions.Bernoulli(q).log_prob(B.float()) ; torch.distributions.Bernoulli(logits=x).log_prob(B.float()) ; torch.distributions.Bernoulli(logits=x).entropy() ; torch.distributions.Bernoulli(q).variance ; torch.distributions.kl_divergence(torch.distributions.Bernoulli(q), torch.distributions.Bernoulli(1 - q))
distributions.Geometric: torch.distributions.Geometric(q).log_prob(J.float()) ; torch.distributions.Geometric(q).mean ; torch.distributions.Poisson(p).log_prob(J.float()) ; torch.distributions.Binomial(6, q).log_prob(J.float()) ; torch.distributions.Binomial(6, q).mean
distributions.Categorical: torch.distributions.Categorical(p).log_prob(K) ; torch.distributions.Categorical(logits=x).log_prob(K) ; torch.distributions.Categorical(logits=x).entropy() ; torch.distributions.Categorical(p).probs ; torch.distributions.kl_divergence(torch.distributions.Categorical(logits=x), torch.distributions.Categorical(logits=y)) ; torch.distributions.OneHotCategorical(logits=x).log_prob(torch.eye(4)[K]) ; torch.distributions.Multinomial(6, p).log_prob(torch.tensor([[1.0, 2, 0, 3]] * 3))
# ---- functions of arrays ----
func.grad: torch.func.grad(lambda t: (t ** 3).sum())(v.detach()) ; torch.func.grad(lambda a, b: (a * b).sum(), argnums=1)(v.detach(), v.detach() * 2)
func.vjp: torch.func.vjp(lambda t: t.exp(), v.detach())[0] ; torch.func.vjp(lambda t: t.exp(), v.detach())[1](v.detach())
func.jacrev: torch.func.jacrev(lambda t: t.exp())(v.detach()) ; torch.func.jacrev(lambda a, b: (a * b, b.sum()), argnums=(0, 1))(v.detach(), v.detach() * 2) ; torch.func.jacrev(lambda d: {'r': d['a'] * d['b'].sum()})({'a': v.detach(), 'b': u.detach()})['r']['b'] ; torch.func.jacrev(lambda t: (t ** 2, t.sum()), has_aux=True)(v.detach())
func.hessian: torch.func.hessian(lambda t: (t ** 3).sum())(v.detach())
func.jvp: torch.func.jvp(lambda t: t.exp(), (v.detach(),), (v.detach(),)) ; torch.func.jvp(lambda d, t: (d['a'] * t).sum(), ({'a': v.detach()}, v.detach()), ({'a': v.detach() * 0 + 1}, v.detach() * 0.5)) ; torch.func.jvp(lambda t: (t * t, t + 1), (v.detach(),), (v.detach(),), has_aux=True) ; torch.func.jvp(torch.exp, v.detach(), v.detach()) ; torch.func.jvp(torch.mul, (v.detach(), v.detach()), (v.detach(),))
func.linearize: torch.func.linearize(lambda t: t.sin() * t, v.detach())[1](v.detach() + 1) ; torch.func.linearize(torch.exp, v.detach())[0]
func.functional_call: torch.func.functional_call(torch.nn.Linear(4, 3), {'weight': x, 'bias': u}, (y,)) ; torch.func.grad(lambda w, t: torch.func.functional_call(torch.nn.Linear(4, 3), w, t).pow(2).sum())({'weight': x.detach(), 'bias': u.detach()}, y.detach())['bias'] ; torch.func.jacrev(lambda w: torch.func.functional_call(torch.nn.Linear(4, 3), w, v.detach()))({'weight': x.detach(), 'bias': u.detach()})['weight']
func.vmap: torch.func.vmap(torch.func.grad(lambda t, w: (t * w).sin().sum()), in_dims=(0, None))(x.detach(), v.detach()) ; torch.func.vmap(torch.dot)(x, y) ; torch.func.vmap(lambda t: t.sum(), in_dims=1)(x) ; torch.func.vmap(torch.func.jacrev(lambda t: t * t.sum()))(x.detach())
func.grad_and_value: torch.func.grad_and_value(lambda t: (t ** 3).sum())(v.detach())
func.jacfwd: torch.func.jacfwd(lambda t: t.exp())(v.detach())
# ---- dtypes and operands of other kinds ----
sum.whole: U.sum() ; U.prod() ; U.sum(0) ; torch.sum(U, 0, True) ; U.cumsum(0) ; U.cumprod(0, dtype=torch.uint8) ; U.reshape(1, 3)[:, :1].trace() ; B.sum() ; B.prod(0) ; S.sum(1) ; U.sum(dtype=torch.float32) ; torch.nansum(U) ; torch.einsum('i->', U) ; U.reshape(1, 3).sum_to_size(3) ; torch.addbmm(torch.ones(1, 1, dtype=torch.uint8), U.reshape(3, 1, 1), U.reshape(3, 1, 1))
cov.whole: torch.cov(I) ; torch.corrcoef(I) ; torch.cov(U.reshape(1, 3)) ; torch.cov(B) ; torch.corrcoef(U[:2, None] * J[:1])
arange.whole: torch.arange(-.9, 2.1, 2, dtype=torch.int32) ; torch.arange(-.9, 2.1, .5, dtype=torch.int32) ; torch.arange(5, -1.5, -1.5, dtype=torch.int64) ; torch.arange(.5, 6.4, 1.5, dtype=torch.uint8) ; torch.range(-.9, 2.1, 2, dtype=torch.int32) ; torch.arange(3.5, dtype=torch.int64) ; torch.arange(0, 1, .5, dtype=torch.int16)
gradient.spacing: torch.gradient(I, spacing=2.1) ; torch.gradient(U, spacing=0.5) ; torch.gradient(x, spacing=[0.5, 2]) ; torch.gradient(v, spacing=None)
reciprocal.whole: torch.reciprocal(J) ; torch.reciprocal(B) ; U.reciprocal() ; torch.square(B) ; torch.conj_physical(B) ; torch.sign(B) ; torch.sgn(B) ; torch.logit(B, 0.6) ; torch.ldexp(H, K[:1])
nan.sign: torch.sign(N) ; torch.sgn(N) ; N.clone().sign_() ; torch.sign(x) ; torch.nn.functional.hardshrink(N) ; torch.hardshrink(N) ; torch.threshold(N, 0.0, 5.0) ; torch.nn.functional.threshold(N, 0.0, 5.0) ; torch.nn.functional.prelu(N, q[0, :1])
prelu.shape: torch.prelu(a0 * -1, q[0, :1]) ; torch.nn.functional.prelu(u, q[0, :1]) ; torch.nn.functional.prelu(x, q[0]) ; torch.nn.functional.prelu(x, q[0, :2])
dist.half: torch.dist(H * 300, H * 0, 4) ; torch.dist(H * 300, H * 0) ; torch.dist(H, H * 0, 1.5) ; torch.norm(H * 200, 3, 1) ; torch.dist((H * 300).bfloat16(), (H * 0).bfloat16(), 3)
squeeze.none: x[:1].squeeze(()) ; torch.squeeze(m[:1], ()) ; m[:1, :1].squeeze(0, 1) ; m[:1, :1].squeeze((0, 1)) ; m[:1].squeeze([0])
size.none: a0.size(0) ; a0.size(-1) ; a0.stride(0) ; a0.size(1) ; x.size(-1) ; x.stride(0) ; a0.size()
cosine.broadcast: torch.cosine_similarity(m[:1], m[:, :1], dim=-2) ; torch.nn.functional.cosine_similarity(m[:1], m[:, :1], dim=2) ; torch.cosine_similarity(x * 1e-9, x, 1) ; torch.cosine_similarity(I, I) ; torch.cosine_similarity(x * 0, y, 0) ; torch.nn.functional.pairwise_distance(m[:1], m[:, :1])
float.format: x.float(memory_format=torch.contiguous_format) ; x.double(memory_format=torch.preserve_format) ; m[None].half(memory_format=torch.channels_last).stride() ; m[None].float(memory_format=torch.channels_last).stride() ; m[None].detach().long(memory_format=torch.channels_last) ; x.half(memory_format=torch.channels_last)
softmax.empty: torch.softmax(E, 0) ; torch.softmax(E.t(), 1) ; torch.log_softmax(E, 1) ; torch.logsumexp(E, 0) ; torch.logsumexp(E, 1) ; torch.logsumexp(E.t(), (0, 1))
none.order: a0.median(0) ; a0.kthvalue(1) ; a0.kthvalue(2, 0) ; a0.mode() ; T.mode(0, True) ; a0.nanmedian(-1, True) ; torch.quantile(a0, q[0, :2], 0) ; torch.quantile(a0, 0.2, 0, True) ; torch.nanquantile(a0, 0.7)
none.index: a0.index_add(0, T * 0, a0 * 2) ; a0.index_copy(0, T * 0, a0 * 2) ; a0.index_copy(0, K[1:2], u[:1]) ; a0.index_fill(0, T * 0, a0 * 3) ; a0.index_fill(0, K[1:2], 7) ; a0.scatter(0, T * 0, a0 * 2) ; a0.scatter(0, K[1:2], 5.0) ; a0.scatter_add(0, T * 0, a0 * 2) ; a0.scatter_reduce(0, T * 0, a0 * 2, 'prod') ; a0.index_reduce(0, T * 0, a0 * 2, 'amax') ; a0.put(T * 0, a0 * 2) ; a0.put(K[1:2], u[:1], True) ; put_in(x, lambda t: t[0, 0].index_fill_(0, T * 0, 5.0)) ; u.index_add(0, T * 0, u[:1]) ; v.gather(0, torch.zeros(2, 0, dtype=torch.uint8))
flip.dims: x.flip(dims=(0,)) ; torch.flip(x, dims=[0, 1]) ; x.flip(0, 1) ; x.flip(()) ; torch.flip(v, (0,))
div.numbers: torch.div(5.0, p, rounding_mode='floor') ; torch.div(5.0, p) ; torch.add(5.0, x) ; torch.sub(5, x) ; torch.sub(5, x, alpha=2) ; torch.div(7, J, rounding_mode='trunc')
trapezoid.whole: torch.trapezoid(U) ; torch.trapezoid(x, y) ; torch.cumulative_trapezoid(U) ; torch.trapezoid(I, dx=0.5)
scatter_reduce.whole: torch.zeros(3, dtype=torch.bool).scatter_reduce(0, K[:2], B[0, :2], 'amax', include_self=False) ; U.scatter_reduce(0, K, U, 'mean') ; U.index_reduce(0, K, U, 'mean')
polynomials.degrees: torch.special.hermite_polynomial_h(q.detach(), G) ; torch.special.chebyshev_polynomial_t(I, 3) ; torch.special.legendre_polynomial_p(B, 2) ; torch.special.laguerre_polynomial_l(0.5, K) ; torch.special.shifted_chebyshev_polynomial_u(J, 2) ; torch.special.chebyshev_polynomial_t(q.detach(), 4)
histogram.one: torch.histogram(torch.ones(3), 2) ; torch.histc(torch.ones(3), 2) ; torch.histc(H.bfloat16(), 4)
hash.whole: torch.hash_tensor(I) ; torch.hash_tensor(B) ; torch.hash_tensor(x.detach())
lstsq.residuals: torch.linalg.lstsq(x.detach().t(), y.detach().t()).residuals ; torch.linalg.lstsq(x.detach().t(), y.detach().t(), driver='gelsd').residuals ; torch.linalg.lstsq(x.detach().t(), y.detach().t()).solution
tensordot.one: torch.tensordot(x[:1], y, dims=([0], [0])) ; torch.tensordot(U[:1], U, 1)
sum.dtypes: torch.sum(x.detach(), dtype=torch.int32) ; torch.sum(U, dtype=torch.int16) ; U.sum(dtype=torch.bool) ; J.sum(0, dtype=torch.int32) ; torch.prod(J, dtype=torch.int32) ; H.sum(1, dtype=torch.float32) ; x.detach().sum(dtype=torch.complex64)
alpha.dtypes: torch.add(B, B, alpha=2) ; torch.add(B, B, alpha=0) ; B.add(B, alpha=3) ; torch.add(B, True, alpha=2) ; torch.add(B, 3, alpha=2) ; torch.add(U, B[0, :3], alpha=2) ; U.add(B[0, :3], alpha=2) ; torch.add(H, J, alpha=2.5) ; H.add(J, alpha=2.5) ; torch.add(I, 1.5, alpha=2.5) ; I.add(x, alpha=2.5) ; torch.rsub(H, J, alpha=2.5) ; put_in(U, lambda t: t.add_(B[0, :3], alpha=2)) ; put_in(B, lambda t: t.add_(B, alpha=2)) ; torch.sub(H, J, alpha=3)
addcmul.whole: torch.addcmul(I, I, J, value=2.7) ; torch.addcmul(H, J, J, value=2) ; torch.addcmul(U, U, U, value=2.5) ; torch.addcdiv(H, x, p, value=2) ; I.index_add(0, K, J, alpha=2.5) ; torch.vmap(lambda t: t.add(True, alpha=2))(B)
sinc.half: torch.sinc(torch.zeros(2, dtype=torch.float16)) ; torch.sinc(torch.zeros(2, dtype=torch.bfloat16)) ; torch.sinc(H * 0 + 0.5)
counts.dtype: torch.repeat_interleave(U[2:]) ; torch.repeat_interleave(S[:1].abs().ravel()) ; torch.repeat_interleave(K)
held.numbers: torch.full((2,), -1, dtype=torch.uint8) ; put_in(U, lambda t: t.fill_(-2)) ; put_in(U, lambda t: t.__setitem__(0, -200)) ; put_in(U, lambda t: t.__setitem__(K[:2], -3)) ; U.masked_fill(U > 100, -1) ; U.index_fill(0, K[:1], -1) ; torch.tensor([-1, 2.5], dtype=torch.int8) ; torch.full((2,), 2 + 0j, dtype=torch.float32) ; put_in(x.detach(), lambda t: t.fill_(2 + 0j)) ; torch.full_like(U, -7) ; U.scatter(0, K[:1], -5) ; torch.full((1,), 1e9, dtype=torch.float16)
power.whole: torch.float_power(I, 1 + 2j) ; torch.linalg.matrix_power(J[:, :3], 3) ; torch.matrix_power(U.reshape(1, 3).T @ U.reshape(1, 3), 2) ; torch.cov(C) ; torch.corrcoef(C) ; torch.cumsum(x.detach() * 3, 0, out=torch.empty(3, 4, dtype=torch.int64))
choices.lie: m.transpose(0, 2).softmax(1).stride() ; m.transpose(0, 2).softmax(0).view(-1) ; m.transpose(0, 1).log_softmax(2).view(-1) ; m.topk(2, 1)[1].stride() ; m.cummax(1)[1].stride() ; m.topk(2, 0).indices.view(-1) ; m.cummin(0).indices.view(-1)
new.dims: x[..., None].stride() ; x[:, None].stride() ; x[None].stride() ; v[None, :, None].stride() ; x[:, None, ::2].stride() ; x.t()[None, :, None].stride() ; a0[None].stride() ; (x[:, None] + y[None]).stride()
broadcast_to.ints: x.broadcast_to(2, 3, 4) ; x.broadcast_to((2, 3, 4)) ; torch.broadcast_to(x, (2, 3, 4)) ; v.broadcast_to(3, -1) ; a0.broadcast_to(2) ; torch.broadcast_to(x, size=(2, 3, 4))
reversed: reversed(x) ; reversed(m)[0] ; reversed(a0)
index.byte: x[torch.tensor(1, dtype=torch.uint8)] ; x[torch.tensor(0, dtype=torch.uint8)] ; v[U[0]] ; x[:, torch.tensor([1, 0, 1, 1], dtype=torch.uint8)]
# ---- derivatives ----
quantile.of_q: torch.quantile(x.detach(), q[0, :2]) ; torch.quantile(y.detach(), q[0, 0], 1) ; torch.nanquantile(x, q[1], 0) ; torch.quantile(x, q[0, :2], interpolation='midpoint') ; torch.quantile(x.detach(), q[0, 0], interpolation='nearest')
addmm.unused: torch.addmm(s, s, h, beta=0) ; torch.baddbmm(m @ n, m, n, beta=0) ; torch.addbmm(s[:, :1] @ s[:1], m, n, beta=0) ; torch.addmv(u, x, v, beta=0) ; torch.addr(x, u, v, beta=0) ; torch.addmm(torch.full((3, 3), torch.nan), s, h, beta=0) ; torch.addmm(u[:1], s, h, beta=0) ; torch.addmv(U, torch.ones(3, 3, dtype=torch.uint8), U, beta=2, alpha=0.5)
index_fill.value: x.index_fill(0, K[[0, 1, 0]], a0) ; x.index_fill(1, K, 2.5) ; I.index_fill(1, K, 2.5) ; x.index_fill(0, K, u) ; x.index_fill(1, K[[0, 0]], a0)
prod.zeros: second(lambda t: t.prod(), x * (x > 0)) ; second(lambda t: t.prod(1), y * (y.abs() > 0.5)) ; second(lambda t: t.prod(0, True), x) ; second(lambda t: t.prod(), torch.zeros(3)) ; (y * (y > 1)).prod(1)
index_reduce.zeros: second(lambda t: t.index_reduce(0, K[[0, 0, 1]], t * (t > 0), 'prod'), x * (x > 0)) ; second(lambda t: t.scatter_reduce(1, G, t * (t > 0), 'prod'), x * (x > 0)) ; second(lambda t: t.scatter_reduce(1, G, t, 'prod', include_self=False), x)
complex.second: second(lambda t: t.abs(), Z) ; second(lambda t: torch.dist(t, t * 0.5 + 1, 3), Z) ; second(lambda t: t.cumprod(0), Z) ; second(lambda t: torch.sgn(t), Z) ; second(lambda t: torch.sinc(t), Z) ; second(lambda t: torch.sigmoid(t), Z) ; second(lambda t: torch.rsqrt(t), Z) ; second(lambda t: torch.logaddexp(t, t * 0.5), Z) ; second(lambda t: torch.nn.functional.conv1d(t[None], t[None]), Z) ; second(lambda t: torch.nn.functional.conv_transpose1d(t[None], t[:, None], stride=2), Z)
complex.more: torch.sigmoid(Z) ; torch.rsqrt(Z) ; torch.logaddexp(C, C.flip(0)) ; torch.logcumsumexp(Z, 1) ; torch.logsumexp(C, 1) ; torch.logdet(Z) ; torch.nn.functional.silu(Z) ; torch.nn.functional.rms_norm(C, (4,)) ; torch.nn.functional.normalize(C)
norm.slopes: torch.linalg.vector_norm(torch.nn.functional.relu(x), 0.5) ; torch.linalg.vector_norm(torch.nn.functional.relu(x), -1) ; torch.linalg.vector_norm(torch.nn.functional.relu(x), 1.5, dim=1) ; torch.nn.functional.normalize(x, p=0) ; torch.nn.functional.normalize(x, p=3) ; torch.dist(x, y, 0.5)
pinv.rank: torch.linalg.pinv(x[:, :1] @ y[:1]) ; second(lambda t: torch.linalg.pinv(t), x) ; second(lambda t: torch.linalg.pinv(t.t()), x) ; torch.linalg.pinv(s, hermitian=True) ; torch.linalg.matrix_rank(n @ m, rtol=torch.tensor([1e-3, 1e3])) ; torch.linalg.matrix_rank(n, atol=torch.tensor([0.1, 9.0]))
lu.shapes: torch.linalg.lu(x) ; torch.linalg.lu(n[0]) ; torch.linalg.lu_factor(x) ; torch.linalg.lu_factor(n) ; second(lambda t: torch.linalg.lu(t).U, x) ; second(lambda t: torch.linalg.lu(t).L, n[0]) ; torch.lu_unpack(*torch.linalg.lu_factor(x), unpack_pivots=False) ; torch.linalg.lu_factor(C)
vander.batch: torch.linalg.vander(x, N=3) ; torch.linalg.vander(I) ; torch.linalg.vander(a0, N=2) ; torch.linalg.vander(U, N=5)
bessel.slopes: torch.special.bessel_j0(p) ; torch.special.bessel_j1(p) ; torch.special.bessel_y0(p) ; torch.special.bessel_y1(p) ; torch.special.modified_bessel_k0(p) ; torch.special.modified_bessel_k1(p)
stft.parts: torch.stft(l, 4, window=torch.ones(4), return_complex=False) ; torch.stft(l, 4, window=torch.ones(4), return_complex=True)
istft.whole: torch.istft(C[:2, :3].t(), 3, 1, window=torch.ones(3), onesided=False) ; torch.istft(C[:2, :3].t(), 4, window=torch.ones(4))
factors.phases: second(lambda t: torch.linalg.svdvals(t), Z) ; second(lambda t: torch.linalg.qr(t).R, Z) ; second(lambda t: torch.linalg.qr(t).Q.abs(), Z) ; second(lambda t: torch.linalg.pinv(t), C) ; second(lambda t: torch.linalg.svd(t).S, C) ; torch.linalg.pinv(Z, hermitian=True)
unfold.none: a0.unfold(0, 1, 1) ; v.unfold(0, 2, 1)
"""


def cases():
    """(name, expression), each once."""
    seen = {}
    for line in CASES.strip().splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition(": ")
            for expression in rest.split(" ; "):
                seen.setdefault(expression.strip(), name)
    for table in (UNARY, BINARY):
        for given, names in table.items():
            for name in names.split():
                for expression in spelled(name, given):
                    seen.setdefault(expression, name.rstrip("_"))
    return [(name, expression) for expression, name in seen.items()]


def spelled(name, given):
    """The ways to write a function of given: as a function, as a method, and in place."""
    first, _, rest = given.partition(", ")
    plain = name.rstrip("_")
    if plain not in METHODS_ONLY:
        yield f"torch.{plain}({given})"
    if plain not in FUNCTIONS_ONLY:
        yield f"{first}.{plain}({rest})"
    if name.endswith("_"):
        yield f"{first}.clone().{name}({rest})"


METHODS_ONLY = set()
FUNCTIONS_ONLY = set()
