"""What the stubs say that neither a signature nor a table of the package's tells: types by the names of parameters,
and what functions give. treadle.pyi beside this file has the definitions that are written whole."""

# ---- parameters ----

# Of every function: what a parameter of that name takes.
PARAMETERS = {
    "device": "_DeviceLike | None",
    "keepdims": "bool",
    "keepdim": "bool",
    "requires_grad": "bool",
}
# Of the functions of NumPy's namespaces besides.
ARRAY_PARAMETERS = {
    **dict.fromkeys("a x x1 x2 arr ary m y b v ar1 ar2 a1 a2 element test_elements".split(), "_ArrayLike"),
    "dtype": "_DTypeLike | None",
    "out": "ndarray | None",
    "axis": "_Axis",
    "axes": "_Axis",
}
# (function, parameter): the name means something else.
OTHERWISE = {
    "treadle.vectorize": {"a": "Any"},
    "treadle.stream": {"out": "Any"},
    "treadle.apply_along_axis": {"axis": "int"},
    "treadle.frombuffer": {"dtype": "_DTypeLike"},
}
# Of treadle.torch's functions and methods.
TENSOR_PARAMETERS = {
    "dtype": "dtype | None",
    "device": "_DeviceLike | None",
    "out": "Any",
    "memory_format": "memory_format | None",
    "generator": "Generator | None",
}

# ---- results ----

# What a module's native and composed functions give where RESULTS says nothing else.
DEFAULT_RESULT = {
    "treadle": "ndarray",
    "treadle.fft": "ndarray",
    "treadle.linalg": "ndarray",
    "treadle.emath": "ndarray",
    "treadle.cupyx.signal": "ndarray",
    "treadle.torch": "Tensor",
    "treadle.torch.fft": "Tensor",
    "treadle.torch.linalg": "Tensor",
    "treadle.torch.special": "Tensor",
    "treadle.torch.nn.functional": "Tensor",
    "treadle.torch.signal.windows": "Tensor",
}

# type: {module: functions}
RESULTS = {
    "bool": {
        "treadle": "ndarray.is_c_contiguous ndarray.is_f_contiguous Event.query allclose array_equal array_equiv "
        "can_cast iscomplexobj isfortran isrealobj isscalar may_share_memory shares_memory is_available issctype "
        "issubsctype issubclass_",
        "treadle.torch": "Tensor.is_same_size Tensor.is_set_to Tensor.is_coalesced compiled_with_cxx11_abi "
        "is_autocast_cache_enabled is_deterministic_algorithms_warn_only_enabled Tensor.is_contiguous "
        "Tensor.is_pinned Tensor.allclose Tensor.equal Tensor.is_floating_point Tensor.is_complex Tensor.is_nonzero "
        "Tensor.is_shared Tensor.is_signed Tensor.is_inference allclose equal is_tensor is_storage "
        "is_floating_point is_complex is_nonzero is_grad_enabled is_inference_mode_enabled is_same_size is_conj "
        "is_neg is_inference is_signed is_distributed can_cast are_deterministic_algorithms_enabled "
        "is_warn_always_enabled",
    },
    "int": {
        "treadle": "ndim",
        "treadle.torch": "get_deterministic_debug_mode Tensor.dense_dim Tensor.dim Tensor.ndimension Tensor.numel "
        "Tensor.nelement Tensor.storage_offset Tensor.data_ptr Tensor.element_size Tensor.get_device numel "
        "get_num_threads get_num_interop_threads initial_seed seed get_device",
    },
    "tuple[int, ...]": {
        "treadle": "broadcast_shapes shape",
    },
    "tuple[Tensor, ...]": {
        "treadle.torch": "split chunk tensor_split hsplit vsplit dsplit unbind unsafe_split unsafe_chunk "
        "split_with_sizes unsafe_split_with_sizes Tensor.split Tensor.chunk Tensor.tensor_split Tensor.hsplit "
        "Tensor.vsplit Tensor.dsplit Tensor.unbind Tensor.unsafe_split Tensor.unsafe_chunk Tensor.split_with_sizes "
        "Tensor.unsafe_split_with_sizes var_mean std_mean gradient broadcast_tensors meshgrid unravel_index "
        "split_copy split_with_sizes_copy unbind_copy lstm_cell svd_lowrank pca_lowrank",
    },
    "Tensor | Any": {  # a tensor, but for rare arguments
        "treadle.torch": "where max min median nanmedian nonzero unique unique_consecutive Tensor.where Tensor.max "
        "Tensor.min Tensor.median Tensor.nanmedian Tensor.nonzero Tensor.unique Tensor.unique_consecutive "
        "Tensor.type Tensor.grad max_pool1d max_pool2d max_pool3d adaptive_max_pool1d embedding_bag to_dlpack",
        "treadle.torch.nn.functional": "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d embedding_bag linear_cross_entropy",
    },
    "dtype": {
        "treadle.torch": "result_type promote_types get_default_dtype get_autocast_dtype",
    },
    "tuple[ndarray, ...]": {
        "treadle": "nonzero meshgrid broadcast_arrays diag_indices diag_indices_from tril_indices tril_indices_from "
        "triu_indices triu_indices_from mask_indices ix_ unstack unravel_index",
    },
    "tuple[ndarray, ndarray]": {
        "treadle": "histogram divmod frexp modf polydiv",
        "treadle.linalg": "eig eigh qr slogdet",
    },
    "list[ndarray]": {
        "treadle": "split array_split hsplit vsplit dsplit",
    },
    "str": {
        "treadle": "array2string array_repr array_str",
        "treadle.torch": "typename get_float32_matmul_precision",
    },
    "None": {
        "treadle": "ndarray.dump ndarray.tofile ndarray.put ndarray.sort ndarray.partition ndarray.set "
        "ndarray.setfield ndarray.setflags ndarray.resize ndarray.copy_to_device Event.synchronize "
        "Stream.synchronize Stream.wait_event device.synchronize device.memory_limit device.memory_trim synchronize "
        "evaluate use copyto fill_diagonal place put put_along_axis putmask save savetxt savez savez_compressed",
        "treadle.torch": "set_default_tensor_type set_float32_matmul_precision set_num_interop_threads "
        "set_num_threads set_warn_always use_deterministic_algorithms set_printoptions Tensor.backward "
        "Tensor.retain_grad",
    },
    "ndarray | Any": {  # arrays, but for rare arguments
        "treadle": "unique average apply_along_axis apply_over_axes gradient load loadtxt genfromtxt fromregex "
        "polyfit piecewise linspace indices poly polyadd polymul polysub polyval size from_host ndarray.getitem",
        "treadle.linalg": "lstsq multi_dot tensorsolve tensorinv norm matrix_rank",
    },
    "Any": {
        "treadle": "einsum_path broadcast poly1d topk frompyfunc common_type histogram2d histogramdd fuse graph jit "
        "njit prange stencil map vmap debug build guvectorize vectorize install ndenumerate nditer "
        "get_default_memory_pool get_default_pinned_memory_pool obj2sctype sctype2char get_array_module unique_all "
        "unique_counts unique_inverse fallbacks geterr seterr geterrcall seterrcall fromDlpack finfo who "
        "byte_bounds memoize ndarray.ctypes ndarray.get_ipc_handle ndarray.toDlpack ndarray.setitem "
        "ndarray.copy_to_host ndarray.dumps ndarray.split ndarray.nonzero",
        "treadle.torch": "mode kthvalue cummax cummin aminmax sort topk frexp slogdet histogram lu_unpack "
        "Tensor.mode Tensor.kthvalue Tensor.cummax Tensor.cummin Tensor.aminmax Tensor.sort Tensor.topk "
        "Tensor.frexp Tensor.slogdet Tensor.histogram Tensor.lu_unpack histogramdd broadcast_shapes "
        "Tensor.dim_order Tensor.register_hook Tensor.register_post_accumulate_grad_hook Tensor.storage "
        "Tensor.storage_type Tensor.untyped_storage Tensor.module_load compile fork wait while_loop map "
        "get_default_device get_device_module manual_seed set_flush_denormal max_pool1d_with_indices Tensor.stride "
        "Tensor.size Tensor.split Tensor.chunk",
        "treadle.linalg": "svd",
        "treadle.torch.linalg": "cholesky_ex inv_ex lu lu_factor lu_factor_ex slogdet solve_ex ldl_factor "
        "ldl_factor_ex eig eigh qr svd lstsq",
        "treadle.torch.nn.functional": "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
        "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices multi_head_attention_forward",
    },
}

# Namespaces of NumPy's functions, whose operands are array-likes.
ARRAYS = {"treadle", "treadle.fft", "treadle.linalg", "treadle.emath"}

# Of the methods of a class: what they give where RESULTS says nothing else, and whose parameters they have.
METHODS = {
    "treadle.ndarray": {"default": "ndarray", "face": "arrays"},
    "treadle.torch.Tensor": {"default": "Tensor", "face": "tensors"},
}

# {class: {type: attributes}} of the core's types.
ATTRIBUTES = {
    "treadle.ndarray": {
        "int": "ndim size itemsize nbytes alloc_size",
        "tuple[int, ...]": "shape strides",
        "ndarray": "real imag",
        "device": "device",
    },
    "treadle.torch.Tensor": {
        "bool": "requires_grad is_leaf is_cuda is_sparse is_quantized is_meta",
        "dtype": "dtype",
        "Tensor": "T mT H mH real imag data",
        "int": "ndim itemsize nbytes",
    },
    "treadle.device": {"str": "name kind"},
}

# Types of the core's that have fields of their own in memory: no class derives from two of them.
LAID_OUT = {"treadle.Event", "treadle.Stream", "treadle.pycuda.driver.DeviceAllocation", "treadle.torch.Tensor"}
