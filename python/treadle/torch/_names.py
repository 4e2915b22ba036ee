"""PyTorch's names that are refused, each with its reason. Names that are here stand in the modules that define them.

Modules of treadle.torch ask `refusal` about names that they lack. The tests and tools/torch_page.py, which writes
docs/torch.md, read the table as well. A module without a file whose names are "*" is refused as a whole (_modules.py).
"""

from fnmatch import fnmatchcase

_COMPILED = "all that treadle records is compiled; there is no graph in Python to look into: TREADLE_DUMP prints it"
_GRAPHS = (
    "operations are recorded by the core, not by Python tracing; python -m treadle --explain and TREADLE_DUMP show them"
)
_SAVED = "save the weights with torch.save(model.state_dict()) or as safetensors, which other runtimes load"
_QUANTISED = "tensors of quantised dtypes are not there; torch.autocast computes in half types"
_OTHER_DEVICES = "treadle runs on CPUs and NVIDIA GPUs"
_ONE_DEVICE = "a process has one device here: nn.parallel.DistributedDataParallel averages gradients between processes"
_WHOLE = "tensors are whole in each process, or a part that the program itself cuts and sends"
_REMOTE = "objects do not live in other processes: torch.distributed has send, recv and the collectives"
_LAUNCHED = (
    "start the processes with torchrun, mpirun or `python -m treadle.distributed`; a lost process ends the group"
)
_SPARSE = "sparse tensors are of coordinates (COO): torch.sparse_coo_tensor, Tensor.to_sparse, torch.sparse.mm"
_NESTED = "tensors are rectangular: pad the rows (nn.utils.rnn.pad_sequence) and give a mask"
_NAMED = "PyTorch gives named dimensions up; give the number of the dimension"
_CPP = "treadle has no C++ tensors: write kernels with treadle.cuda.jit, RawKernel, or a C function through ctypes"
_GONE = "PyTorch itself has removed or deprecated it"
_INSIDE = "a part of PyTorch's own machinery"
_PIPES = "PyTorch gives data pipes up: IterableDataset and generators do what they did"
_HANDLES = "handles of libraries for PyTorch's own calls; treadle.pycuda.driver has the driver's"
_POOL = "treadle.memory serves each device's pool; torch.cuda.memory_stats tells what it holds"

# {module or class of PyTorch's: {names, with * for all other names: reason}}
REFUSED = {
    "torch.fx": {"*": _GRAPHS},
    "torch.export": {"*": f"{_GRAPHS}; {_SAVED}"},
    "torch.onnx": {"*": f"ONNX files are not written: {_SAVED}"},
    "torch.distributed.rpc": {"*": _REMOTE},
    "torch.distributed.tensor": {"*": f"{_WHOLE}; DeviceMesh gives groups for rows and columns of processes"},
    "torch.distributed._tensor": {"*": _WHOLE},
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
    "torch._higher_order_ops": {"*": _COMPILED},
    "torch._jit_internal": {"*": _INSIDE},
    "torch._prims_common": {"*": _INSIDE},
    "torch._subclasses": {"*": "tensors on the device meta have no values"},
    "torch._tensor_str": {"*": "torch.set_printoptions says how tensors are printed"},
    "torch.distributed._composable": {"*": "torch.distributed.fsdp has what is there of it"},
    "torch.distributed._functional_collectives": {"*": "torch.distributed has the collectives"},
    "torch.distributed.launcher": {"*": _LAUNCHED},
    "torch.distributed.run": {"*": _LAUNCHED},
    "torch.distributed.launch": {"*": _LAUNCHED},
    "torch.numa": {"*": _INSIDE},
    "torch.utils._python_dispatch": {"*": "classes define __torch_function__: operations are not broken down further"},
    "torch.utils._sympy": {"*": _INSIDE},
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
    "torch.utils.data.datapipes": {"*": _PIPES},
    "torch": {
        "AVG SUM PRIVATE_OPS USE_GLOBAL_DEPS USE_RTLD_GLOBAL_WITH_LIBTORCH get_file_path merge_type_from_type_comment "
        "prepare_multiprocessing_environment profiler_allow_cudagraph_* slice_inverse thread_safe_generator "
        "unify_type_list": _INSIDE,
        "as_strided_": "a tensor keeps its shape and strides: take what as_strided gives",
        "dequantize empty_quantized int_repr": _QUANTISED,
        "eig lstsq solve symeig": f"{_GONE}: torch.linalg has eig, lstsq, solve and eigh",
        "gru lstm rnn_relu rnn_tanh": "nn.GRU, nn.LSTM and nn.RNN are there, and the cells as functions",
        "resize_as_sparse_": _SPARSE,
    },
    "torch.Tensor": {
        "as_strided_": "a tensor keeps its shape and strides: take what as_strided gives",
        "const_data_ptr slice_inverse": _INSIDE,
        "dequantize int_repr": _QUANTISED,
        "eig lstsq solve symeig": f"{_GONE}: torch.linalg has eig, lstsq, solve and eigh",
        "index": "write tensor[i]",
        "map2_ reinforce resize resize_as volatile": _GONE,
        "resize_as_sparse_ to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr": _SPARSE,
        "to_mkldnn": "tensors have one layout: the CPU's kernels are treadle's",
        "to_padded_tensor": _NESTED,
    },
    "torch.accelerator": {"Graph": "torch.cuda.CUDAGraph records and replays a step", "empty_host_cache": _POOL},
    "torch.autograd": {
        "NestedIOFunction": _INSIDE,
        "enforce_grad_layout_policy": "a gradient lies as its tensor does",
        "set_multithreading_enabled": "a backward pass is recorded by one thread and computed by all",
    },
    "torch.autograd.function": {"*": "subclass torch.autograd.Function"},
    "torch.autograd.grad_mode": {
        "enforce_grad_layout_policy": "a gradient lies as its tensor does",
        "set_multithreading_enabled": "a backward pass is recorded by one thread and computed by all",
    },
    "torch.autograd.graph": {"*": "a backward pass is computed by the core, with hooks on tensors only"},
    "torch.autograd.profiler": {"*": "torch.profiler.profile records all there is"},
    "torch.backends.cpu": {"*": "python -m treadle info tells what the processor has"},
    "torch.backends.cuda": {"*": "switches of PyTorch's GPU libraries, of which treadle uses others"},
    "torch.backends.mkl": {"*": "MKL is not used"},
    "torch.backends.mps": {"*": _OTHER_DEVICES},
    "torch.compiler": {"*": _COMPILED},
    "torch.cpu": {"get_capabilities": "python -m treadle info tells what the processor has"},
    "torch.cuda": {
        "CUDAPluggableAllocator MemPool caching_allocator_* change_current_allocator get_allocator_backend "
        "get_per_process_memory_fraction host_memory_stats* memory_snapshot memory_stats_as_nested_dict "
        "reset_*host_memory_stats reset_max_memory_cached use_mem_pool": _POOL,
        "DEVICE_REQUIREMENT* Device PYTORCH_RELEASES_CODE_CC default_generators has_half has_magma": _INSIDE,
        "check_error cudaStatus cudart current_blas_handle current_solver_handle": _HANDLES,
        "clock_rate device_memory_used list_gpu_processes memory_usage power_draw temperature "
        "utilization": "nvidia-smi tells what a GPU does",
        "export_dot export_graph_data": "PyTorch's drawings of CUDA graphs",
        "get_gencode_flags": "kernels are compiled for the GPU that is there",
        "get_stream_from_external": "treadle.cuda.external_stream takes a stream of another library's",
        "get_sync_debug_mode set_sync_debug_mode": "treadle.config.implicit_host = 'error' finds copies to the host",
        "make_graphed_callables": "torch.cuda.CUDAGraph records a whole step",
    },
    "torch.cuda.amp": {"amp_definitely_not_available": _INSIDE},
    "torch.cuda.comm": {"*": "Tensor.to(device) copies between GPUs; nn.parallel.scatter and gather split batches"},
    "torch.cuda.profiler": {"*": "torch.profiler.profile, or Nsight started from outside"},
    "torch.distributed": {
        "*Options BackendConfig GradBucket GroupName Logger Reducer ProcessGroup* get_backend_config get_backend_impl "
        "log record_comm": _INSIDE,
        "all_gather_coalesced": "all_gather takes one tensor at a time",
        "breakpoint": "pdb's in one process",
        "recv_object_list send_object_list": "broadcast_object_list sends objects",
        "register_rendezvous_handler rendezvous": _LAUNCHED,
        "set_timeout shrink_group split_group": "new_group makes a group; a lost process ends the group",
    },
    "torch.distributed.algorithms": {"*": "processes give each other as many batches: DistributedSampler"},
    "torch.distributed.checkpoint": {"*": "values are whole in each process, and one file holds them: save and load"},
    "torch.distributed.fsdp": {"*": "parameters are not sharded: FullyShardedDataParallel keeps them whole"},
    "torch.fft": {"Tensor": _INSIDE},
    "torch.func": {"debug_unwrap": _INSIDE, "rearrange": "Tensor.reshape, permute and expand do what it does"},
    "torch.jit": {"CompilationUnit export_opnames": "there is no TorchScript: Python's functions run as they are"},
    "torch.library": {
        "get_kernel": _CPP,
        "register_torch_dispatch": _INSIDE,
        "wrap_triton": "treadle.cuda.jit compiles kernels",
    },
    "torch.linalg": {
        "ldl_factor ldl_factor_ex ldl_solve": "torch.linalg.solve solves symmetric systems, cholesky_ex definite ones",
        "matrix_sqrth": "torch.linalg.eigh gives what it is made of",
        "polar": "torch.linalg.svd gives what it is made of: U @ Vh and V @ diag(S) @ Vh",
    },
    "torch.nn": {
        "Container NLLLoss2d": _GONE,
        "CrossMapLRN2d": "nn.LocalResponseNorm is there",
        "factory_kwargs": _INSIDE,
    },
    "torch.nn.attention": {"*": "attention has one way to be computed, which fuses"},
    "torch.nn.functional": {
        "BroadcastingList* GRID_SAMPLE_* Tensor assert_int_or_pair boolean_dispatch handle_torch_function "
        "has_torch_function* reproducibility_notes tf32_notes": _INSIDE,
        "adaptive_max_pool*_with_indices": "adaptive_max_pool takes return_indices=True",
        "conv_tbc": "torch.conv_tbc is there",
        "grouped_mm scaled_*": "matrix products are of whole matrices in float32, float64 and half types",
    },
    "torch.nn.modules": {"Container NLLLoss2d": _GONE, "CrossMapLRN2d": "nn.LocalResponseNorm is there"},
    "torch.nn.modules.container": {"Container": _GONE},
    "torch.nn.modules.conv": {"Lazy*": "torch.nn has them"},
    "torch.nn.modules.linear": {"LazyLinear": "torch.nn has it"},
    "torch.nn.modules.loss": {"NLLLoss2d": _GONE},
    "torch.nn.modules.module": {"register_module_*": "register the hook on each module of model.modules()"},
    "torch.nn.modules.normalization": {"CrossMapLRN2d": "nn.LocalResponseNorm is there"},
    "torch.optim": {"functional": "optimizers' steps are methods", "swap_in_optimizer_params_and_state": _INSIDE},
    "torch.optim.optimizer": {"register_optimizer_step_*": "optimizer.register_step_post_hook and _pre_hook are there"},
    "torch.optim.sgd": {"sgd": "torch.optim.SGD(...).step() does it"},
    "torch.overrides": {
        "*": "subclasses of Tensor define __torch_function__; there is no list of what may be replaced"
    },
    "torch.profiler": {"*": "torch.profiler.profile records all there is, and export_chrome_trace writes it"},
    "torch.random": {"thread_safe_generator": "generators may be used by several threads"},
    "torch.serialization": {
        "default_restore_location location_tag register_package": "map_location places tensors: a device or a function",
        "skip_data": "a file holds its tensors' values",
        "StorageType check_module_version_greater_or_equal mkdtemp normalize_storage_type storage_to_tensor_type "
        "validate_*": _INSIDE,
    },
    "torch.sparse": {
        "SparseSemiStructured* to_sparse_semi_structured": "matrices with two zeros in four have no own kernels",
        "as_sparse_gradcheck check_sparse_tensor_invariants": "indices are always looked at where a tensor is made",
        "log_softmax softmax solve": _SPARSE,
    },
    "torch.utils": {
        "ThroughputBenchmark": "torch.utils.benchmark.Timer measures",
        "cmake_prefix_path get_cpp_backtrace": _CPP,
        "generate_methods_for_privateuse1_backend rename_privateuse1_backend": _OTHER_DEVICES,
    },
    "torch.utils.benchmark": {"*": "Timer, Measurement and Compare are there"},
    "torch.utils.checkpoint": {"*": "checkpoint computes again all that its function records"},
    "torch.utils.data": {
        "DFIterDataPipe DataChunk guaranteed_datapipes_determinism non_deterministic "
        "argument_validation runtime_validation*": _PIPES,
    },
    "torch.utils.dlpack": {"DLDeviceType ReadOnlyTensorWrapper": _INSIDE},
    "torch.utils.hooks": {"BackwardHook": _INSIDE},
}

# PyTorch's modules whose names other modules define here: {package: {module: one or more places}}.
HOMES = {
    "": {"_custom_ops": "library", "__config__": "version", "_utils": "_older", "functional": "."},
    "autograd": dict.fromkeys("anomaly_mode gradcheck variable".split(), "autograd"),
    "distributed": dict.fromkeys("constants distributed_c10d".split(), "distributed"),
    "distributions": dict.fromkeys(
        """bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet distribution exp_family
        exponential fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal independent
        inverse_gamma kl
        kumaraswamy laplace lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family
        multinomial multivariate_normal negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli
        relaxed_categorical studentT transformed_distribution uniform von_mises weibull wishart""".split(),
        "distributions",
    ),
    "nn.modules": dict.fromkeys(
        """batchnorm channelshuffle distance dropout flatten fold instancenorm loss normalization padding pixelshuffle
        pooling transformer upsampling""".split(),
        "nn.modules",
    )
    | {
        "batchnorm": "nn.modules.sync nn.modules.norm nn.modules",
        "instancenorm": "nn.modules.norm nn.modules",
        **dict.fromkeys(("pooling", "padding"), "nn.modules.conv nn.modules"),
        "loss": "nn.modules.variants nn.modules.activation nn.modules",
        "dropout": "nn.modules.activation nn.modules",
    },
    "nn.parallel": dict.fromkeys(
        "data_parallel distributed parallel_apply replicate scatter_gather".split(), "nn.parallel"
    ),
    "nn.utils": dict.fromkeys("clip_grad convert_parameters fusion memory_format".split(), "nn.utils")
    | dict.fromkeys("spectral_norm weight_norm".split(), "nn.utils._weights nn.utils"),
    "optim": dict.fromkeys(
        "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sparse_adam".split(), "optim"
    ),
    "cuda": dict.fromkeys("memory random streams".split(), "cuda"),
    "cuda.amp": dict.fromkeys("autocast_mode grad_scaler".split(), "cuda.amp"),
    "amp": dict.fromkeys("autocast_mode grad_scaler".split(), "amp"),
    "multiprocessing": {"spawn": "multiprocessing"},
}


def reason(module, name):
    """The reason why a name of PyTorch's is refused, given its module or class. None: the table does not refuse it."""
    for patterns, why in REFUSED.get(module, {}).items():
        if any(fnmatchcase(name, p) for p in patterns.split()):
            return why
    parent, _, last = module.rpartition(".")
    home = HOMES.get(parent.removeprefix("torch."), {}).get(last)
    if home:
        return next(filter(None, (reason("torch" if h == "." else f"torch.{h}", name) for h in home.split())), None)
    return reason(parent, last) if parent else None
