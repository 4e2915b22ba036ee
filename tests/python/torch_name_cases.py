"""Values that PyTorch and treadle.torch are to agree on, for names of torch.nn, torch.optim, torch.signal and torch:
told(torch) gives {name: numbers}. A Python that has PyTorch writes PyTorch's values to torch_name_values.json by running
this file."""

import json
import math
import pathlib


def _numbers(value, torch):
    if isinstance(value, (tuple, list)):
        return [n for v in value for n in _numbers(v, torch)]
    if isinstance(value, torch.Tensor):
        return [None if math.isnan(v) else v for v in value.detach().double().reshape(-1).tolist()]
    return [float(value)]


def _ramp(torch, *shape, scale=1.0):
    count = math.prod(shape)
    return (torch.sin(torch.arange(count, dtype=torch.float32) * 1.7) * scale).reshape(shape)


def _steps(torch, make, shape=(4, 3), steps=4):
    """A parameter after some steps down a bent surface."""
    p = torch.nn.Parameter(_ramp(torch, *shape))
    optimizer = make([p])
    for _ in range(steps):
        optimizer.zero_grad()
        (p.sin().cumsum(0) ** 2).sum().backward()
        optimizer.step()
    return p


def _optimizers(torch):
    O, r = torch.optim, lambda *s: _ramp(torch, *s)  # noqa: E741
    yield "Adafactor", _steps(torch, lambda p: O.Adafactor(p, lr=0.05, weight_decay=0.01))
    yield "Adafactor.vector", _steps(torch, lambda p: O.Adafactor(p, lr=0.05, maximize=True), (5,))
    yield "Muon", _steps(torch, lambda p: O.Muon(p, lr=0.02))
    yield (
        "Muon.wide",
        _steps(torch, lambda p: O.Muon(p, lr=0.02, nesterov=False, adjust_lr_fn="match_rms_adamw"), (2, 5)),
    )
    p = torch.nn.Parameter(r(3, 2))
    optimizer = O.SGD([p], lr=0.5)
    swa = O.swa_utils.SWALR(optimizer, swa_lr=0.1, anneal_epochs=3, anneal_strategy="cos")
    rates = []
    for _ in range(5):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        swa.step()
    yield "SWALR", rates
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    mean, ema = (O.swa_utils.AveragedModel(net, multi_avg_fn=f) for f in (None, O.swa_utils.get_ema_multi_avg_fn(0.9)))
    for k in range(3):
        with torch.no_grad():
            for q in net.parameters():
                q.copy_(_ramp(torch, *q.shape, scale=k + 1.0))
        mean.update_parameters(net)
        ema.update_parameters(net)
    O.swa_utils.update_bn([r(8, 2), r(8, 2) * 2], mean)
    yield "AveragedModel", [*mean.parameters(), mean.module[1].running_mean, mean.module[1].running_var]
    yield "AveragedModel.ema", list(ema.parameters())


def _functions(torch):
    F, r = torch.nn.functional, lambda *s: _ramp(torch, *s)  # noqa: E741
    for name in "leaky_relu_ elu_ hardtanh_ selu_ celu_".split():
        yield name, getattr(F, name)(r(6) * 3)
    yield "threshold_", F.threshold_(r(6), 0.1, 5.0)
    q, k = r(4, 2, 6), r(5, 2, 6) * 0.5
    weights, bias, out = r(18, 6), r(18), r(6, 6)
    padding = torch.tensor([[False] * 4 + [True], [False] * 5])
    yield "multi_head_attention_forward", F.multi_head_attention_forward(
        q, k, k, 6, 2, weights, bias, None, None, False, 0.0, out, r(6), key_padding_mask=padding)  # fmt: skip
    yield "multi_head_attention_forward.more", F.multi_head_attention_forward(
        q, k, k, 6, 2, weights, bias, r(1, 1, 6), r(1, 1, 6), True, 0.0, out, None, average_attn_weights=False,
        attn_mask=torch.ones(4, 5).tril().log())  # fmt: skip
    yield "multi_head_attention_forward.separate", F.multi_head_attention_forward(
        q, k, k, 6, 3, None, None, None, None, False, 0.0, out, None, use_separate_proj_weight=True, q_proj_weight=r(6, 6),
        k_proj_weight=r(6, 6) * 2, v_proj_weight=r(6, 6) * 3)  # fmt: skip
    yield "linear_cross_entropy", F.linear_cross_entropy(r(4, 3), r(5, 3), torch.tensor([0, 4, 2, 1]), linear_bias=r(5))
    samples = torch.tensor([[[0.3, 0.6], [0.9, 0.1]]])
    yield "fractional_max_pool2d", F.fractional_max_pool2d(
        r(1, 2, 7, 8), 2, output_size=(3, 4), return_indices=True, _random_samples=samples)  # fmt: skip
    yield (
        "fractional_max_pool3d",
        F.fractional_max_pool3d(
            r(1, 1, 5, 6, 7),
            2,
            output_ratio=0.5,
            return_indices=True,
            _random_samples=torch.tensor([[[0.2, 0.5, 0.8]]]),
        ),
    )
    yield "upsample_nearest", F.upsample_nearest(r(1, 1, 2, 2), scale_factor=2)
    yield "upsample_bilinear", F.upsample_bilinear(r(1, 1, 2, 2), (3, 3))
    yield "pdist", F.pdist(r(4, 3))
    yield "max_pool2d_with_indices", F.max_pool2d_with_indices(r(1, 1, 4, 4), 2)
    bias_of = torch.nn.attention.bias
    for name in ("causal_upper_left", "causal_lower_right"):
        mask = getattr(bias_of, name)(3, 5)
        yield name, F.scaled_dot_product_attention(r(1, 2, 3, 4), r(1, 2, 5, 4), r(1, 2, 5, 4), attn_mask=mask)
    flex = torch.nn.attention.flex_attention
    q, k = r(1, 2, 4, 8), r(1, 2, 4, 8) * 0.7
    yield "flex_attention", flex.flex_attention(q, k, k, score_mod=lambda s, b, h, i, j: s + (i - j) * 0.1 * (h + 1))
    block = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 4, 4, device="cpu")
    yield "flex_attention.mask", flex.flex_attention(q, k, k, block_mask=block)
    yield "create_mask", flex.create_mask(flex.and_masks(lambda b, h, i, j: i >= j, lambda b, h, i, j: i - j < 2),
                                          1, 1, 4, 4, device="cpu")  # fmt: skip


def _modules(torch):
    nn, r = torch.nn, lambda *s: _ramp(torch, *s)  # noqa: E741

    def filled(module):
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(_ramp(torch, *p.shape))
        return module

    net = filled(nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0, head_bias=True))
    yield "AdaptiveLogSoftmaxWithLoss", [*net(r(5, 8), torch.tensor([0, 2, 4, 9, 6])), net.log_prob(r(2, 8)),
                                         net.predict(r(4, 8))]  # fmt: skip
    for name, given, x in (
        ("LazyLinear", (3,), r(2, 5)), ("LazyConv2d", (3, 2), r(1, 2, 4, 4)), ("LazyConvTranspose1d", (2, 3), r(1, 3, 4)),
        ("LazyBatchNorm2d", (), r(2, 3, 2, 2)), ("LazyInstanceNorm1d", (), r(2, 3, 4)),
    ):  # fmt: skip
        module = getattr(nn, name)(*given)
        module(x)
        yield name, filled(module)(x)
    conv, norm = filled(nn.Conv2d(2, 3, 2)).eval(), filled(nn.BatchNorm2d(3)).eval()
    norm.running_mean.fill_(0.3)
    norm.running_var.fill_(2.0)
    fused = nn.utils.fuse_conv_bn_eval(conv, norm)
    yield "fuse_conv_bn_eval", [fused.weight, fused.bias]
    yield "SyncBatchNorm", nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3)))(r(4, 3))
    P = nn.utils.prune
    for name, f in (
        ("l1_unstructured", lambda m: P.l1_unstructured(m, "weight", 0.4)),
        ("ln_structured", lambda m: P.ln_structured(m, "weight", 1, n=2, dim=0)),
        ("custom_from_mask", lambda m: P.custom_from_mask(m, "weight", (_ramp(torch, 4, 3) > 0).float())),
        ("twice", lambda m: P.ln_structured(P.l1_unstructured(m, "weight", 3), "weight", 0.5, n=1, dim=1)),
        ("global_unstructured", lambda m: P.global_unstructured(
            [(m, "weight"), (m, "bias")], pruning_method=P.L1Unstructured, amount=5)),
    ):  # fmt: skip
        module = filled(nn.Linear(3, 4))
        f(module)
        before = [module.weight, module.weight_mask, module(r(2, 3))]
        yield f"prune.{name}", before
        P.remove(module, "weight")
        yield f"prune.{name}.removed", module.weight


def _top(torch):
    r = lambda *s: _ramp(torch, *s)  # noqa: E731
    yield "as_strided_scatter", torch.as_strided_scatter(r(4, 4), torch.ones(2, 2), (2, 2), (4, 1), 5)
    yield "unfold_copy", torch.unfold_copy(r(7), 0, 3, 2)
    yield "slice_copy", torch.slice_copy(r(6, 2), 0, 1, 5, 2)
    yield "split_copy", torch.split_copy(r(5, 2), 2)
    for name, state in (("gru_cell", r(2, 4)), ("rnn_tanh_cell", r(2, 4)), ("rnn_relu_cell", r(2, 4)),
                        ("lstm_cell", (r(2, 4), r(2, 4) * 2))):  # fmt: skip
        n = {"gru": 3, "lstm": 4, "rnn": 1}[name.split("_")[0]] * 4
        yield name, getattr(torch, name)(r(2, 3), state, r(n, 3), r(n, 4), r(n), r(n) * 2)
    yield "histogramdd", [torch.histogramdd(r(20, 2), (3, 2)).hist, *torch.histogramdd(r(20, 2), (3, 2)).bin_edges,
                          torch.histogramdd(r(20, 2), 2, range=(-1.0, 0.5, -0.5, 1.0), density=True).hist]  # fmt: skip
    yield "nonzero_static", torch.nonzero_static(torch.tensor([[0, 3], [4, 0]]), size=3)
    for how in "sum mean max min prod".split():
        yield f"segment_reduce.{how}", torch.segment_reduce(r(6, 2), how, lengths=torch.tensor([2, 3, 1]))
    yield "conv_tbc", torch.conv_tbc(r(5, 2, 3), r(2, 3, 4), r(4), 1)
    yield "constant_pad_nd", torch.constant_pad_nd(r(2, 3), (1, 2), 7.0)
    yield "convolution", torch.convolution(r(1, 2, 6), r(4, 1, 3), None, [2], [1], [1], False, [0], 2)
    yield "fill", torch.fill(r(3), 2.5)
    yield "spmm", torch.spmm(torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse(), r(2, 3))
    W = torch.signal.windows
    for name in "bartlett blackman cosine exponential gaussian hamming hann kaiser nuttall".split():
        for sym in (True, False):
            yield f"windows.{name}.{sym}", getattr(W, name)(7, sym=sym)
    yield "windows.general_cosine", W.general_cosine(5, a=[0.5, 0.3, 0.2])
    u, s, v = torch.svd_lowrank(r(6, 2) @ r(2, 5), 2)
    yield "svd_lowrank", [s, (u * s) @ v.mT]
    F = torch.autograd.forward_ad
    with F.dual_level():
        x = F.make_dual(r(3), torch.tensor([1.0, 0.5, -1.0]))
        yield "forward_ad", [*F.unpack_dual((x**2).sin() * x), *F.unpack_dual(x @ x)]


def told(torch):
    """{name: numbers}."""
    return {name: _numbers(value, torch) for part in (_optimizers, _functions, _modules, _top)
            for name, value in part(torch)}  # fmt: skip


if __name__ == "__main__":
    import torch
    import torch.nn.attention.bias
    import torch.nn.attention.flex_attention
    import torch.nn.utils.prune
    import torch.signal

    path = pathlib.Path(__file__).parent / "torch_name_values.json"
    path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in told(torch).items()) + "\n}\n")
