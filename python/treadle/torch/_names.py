"""PyTorch's names that are refused, and why. A name that is here stands in the module that has it.

Modules of treadle.torch ask `refusal` for a name that they lack; docs/torch.md (tools/torch_page.py) and the tests read
the table. A module with "*" that has no file is refused whole (_modules).
"""

from fnmatch import fnmatchcase

_COMPILED = "all that treadle records is compiled; there is no graph in Python to look into: TREADLE_DUMP prints it"
_GRAPHS = "operations are recorded by the core, not by Python tracing; treadle.explain() and TREADLE_DUMP show them"
_SAVED = "save the weights with torch.save(model.state_dict()) or as safetensors, which other runtimes load"
_QUANTISED = "tensors of quantised dtypes are not there; torch.autocast computes in half types"
_OTHER_DEVICES = "treadle runs on CPUs and NVIDIA GPUs"
_ONE_DEVICE = "a process has one device here: nn.parallel.DistributedDataParallel averages gradients between processes"
_WHOLE = "tensors are whole in each process, or a part that the program itself cuts and sends"
_REMOTE = "objects do not live in other processes: torch.distributed has send, recv and the collectives"
_LAUNCHED = "start the processes with torchrun, mpirun or `python -m treadle.distributed`; a lost process ends the group"
_SPARSE = "sparse tensors are of coordinates (COO): torch.sparse_coo_tensor, Tensor.to_sparse, torch.sparse.mm"
_NESTED = "tensors are rectangular: pad the rows (nn.utils.rnn.pad_sequence) and give a mask"
_NAMED = "PyTorch gives named dimensions up; give the number of the dimension"
_CPP = "treadle has no C++ tensors: write kernels with treadle.cuda.jit, RawKernel, or a C function through ctypes"
_GONE = "PyTorch itself has removed or deprecated it"
_INSIDE = "a part of PyTorch's own machinery"
_POOL = "treadle.memory serves each device's pool; torch.cuda.memory_stats tells what it holds"

# {module or class of PyTorch's: {names, with * for a rest: reason}}
REFUSED = {
    "torch.fx": {"*": _GRAPHS},
    "torch.export": {"*": f"{_GRAPHS}; {_SAVED}"},
    "torch.onnx": {"*": f"ONNX files are not written: {_SAVED}"},
    "torch.distributed.rpc": {"*": _REMOTE},
    "torch.distributed.tensor": {"*": f"{_WHOLE}; DeviceMesh gives groups for rows and columns of processes"},
    "torch.distributed.autograd": {"*": _REMOTE},
    "torch.distributed.pipelining": {"*": _ONE_DEVICE},
    "torch.distributed.elastic": {"*": _LAUNCHED},
    "torch.distributed.optim": {"*": "optimizer states are kept whole by each process: use the classes of torch.optim"},
    "torch.distributed.nn": {"*": _REMOTE},
    "torch.ao": {"*": _QUANTISED},
    "torch.quantization": {"*": _QUANTISED},
    "torch.nn.quantized": {"*": _QUANTISED},
    "torch.nn.qat": {"*": _QUANTISED},
    "torch.nn.intrinsic": {"*": _QUANTISED},
    "torch.package": {"*": f"code is not packed into files: {_SAVED}"},
    "torch.nested": {"*": _NESTED},
    "torch.masked": {"*": "give the mask to torch.where, Tensor.masked_fill or masked_select"},
    "torch.monitor": {"*": "torch.profiler and treadle.profile record events"},
    "torch._C": {"*": _INSIDE},
    "torch._dynamo": {"*": _COMPILED},
    "torch._inductor": {"*": _COMPILED},
    "torch._functorch": {"*": "torch.func has the transformations"},
    "torch._prims": {"*": _INSIDE},
    "torch._refs": {"*": _INSIDE},
    "torch._decomp": {"*": _INSIDE},
    "torch._ops": {"*": "torch.library defines operations of a program's own"},
    "torch.mps": {"*": _OTHER_DEVICES},
    "torch.xpu": {"*": _OTHER_DEVICES},
    "torch.mtia": {"*": _OTHER_DEVICES},
    "torch.cuda.tunable": {"*": "matrix products choose their kernels by themselves"},
    "torch.cuda._sanitizer": {"*": "streams are ordered by the core; python -m treadle --explain tells what waits"},
    "torch.cuda.jiterator": {"*": "treadle.cuda.jit, treadle.vectorize and RawKernel compile kernels"},
    "torch.utils.cpp_extension": {"*": _CPP},
    "torch.utils.mobile_optimizer": {"*": f"programs for phones are not written: {_SAVED}"},
    "torch.utils.bottleneck": {"*": "python -m treadle --profile script.py tells where the time goes"},
    "torch.utils.jit": {"*": _COMPILED},
    "torch.utils.data.datapipes": {"*": "PyTorch gives data pipes up: IterableDataset and generators do what they did"},
}  # fmt: skip


def reason(module, name):
    """Why the name of a module or class of PyTorch's is refused; None: it is not said to be."""
    for patterns, why in REFUSED.get(module, {}).items():
        if any(fnmatchcase(name, p) for p in patterns.split()):
            return why
    parent, _, last = module.rpartition(".")
    return REFUSED.get(module, {}).get("*") or (reason(parent, last) if parent else None)


# PyTorch's modules whose names stand elsewhere here: {package: {module: where, one or more}}.
HOMES = {
    "distributions": dict.fromkeys(
        """bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet distribution exp_family exponential
        fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal independent inverse_gamma kl
        kumaraswamy laplace lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family
        multinomial multivariate_normal negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli
        relaxed_categorical studentT transformed_distribution uniform von_mises weibull wishart""".split(),
        "distributions",
    ),
    "nn.modules": dict.fromkeys(
        """batchnorm channelshuffle distance dropout flatten fold instancenorm loss normalization padding pixelshuffle pooling
        transformer upsampling""".split(), "nn.modules")
    | {"batchnorm": "nn.modules.sync nn.modules.norm nn.modules", "instancenorm": "nn.modules.norm nn.modules",
       "pooling": "nn.modules.conv nn.modules", "loss": "nn.modules.activation nn.modules"},
    "nn.utils": dict.fromkeys("clip_grad convert_parameters fusion memory_format spectral_norm weight_norm".split(),
                              "nn.utils"),
    "optim": dict.fromkeys("adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sparse_adam".split(), "optim"),
    "cuda": dict.fromkeys("memory random".split(), "cuda"),
    "signal.windows": {"windows": "signal.windows"},
}  # fmt: skip
