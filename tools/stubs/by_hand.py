"""What the stubs say of results that neither a signature nor a table of the package's tells. parameters.py beside this
file has the parameters, whole.pyi the definitions that are written whole."""

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
    "bytes": {"treadle.random": "Generator.bytes RandomState.bytes"},
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
        "treadle.scipy.linalg": "ishermitian issymmetric",
        "treadle.scipy.sparse": "issparse isspmatrix isspmatrix_bsr isspmatrix_coo isspmatrix_csc isspmatrix_csr "
        "isspmatrix_dia isspmatrix_dok isspmatrix_lil",
        "treadle.scipy.spatial.distance": "is_valid_dm is_valid_y",
    },
    "int": {
        "treadle": "ndim",
        "treadle.torch": "get_deterministic_debug_mode Tensor.dense_dim Tensor.dim Tensor.ndimension Tensor.numel "
        "Tensor.nelement Tensor.storage_offset Tensor.data_ptr Tensor.element_size Tensor.get_device numel "
        "get_num_threads get_num_interop_threads initial_seed seed get_device",
        "treadle.scipy.fft": "next_fast_len prev_fast_len",
        "treadle.scipy.fftpack": "next_fast_len",
        "treadle.scipy.spatial.distance": "num_obs_dm num_obs_y",
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
        "treadle.scipy.linalg": "eig lu_factor orthogonal_procrustes polar",
        "treadle.scipy.signal": "argrelmin bilinear coherence deconvolve dfreqresp dlsim freqresp freqs freqs_zpk "
        "freqz freqz_sos freqz_zpk gammatone group_delay iircomb iirnotch iirpeak impulse invres invresz istft "
        "lp2bp lp2bs lp2hp lp2lp max_len_seq normalize sos2tf sosfreqz ss2tf step unique_roots vectorstrength "
        "zpk2tf",
        "treadle.scipy.sparse": "safely_cast_index_arrays",
        "treadle.scipy.sparse.linalg": "lobpcg",
    },
    "ndarray": {
        "treadle.scipy.fft": "dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht hfft hfft2 hfftn idct idctn "
        "idst idstn ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq "
        "rfftn",
        "treadle.scipy.fftpack": "dct dctn dst dstn fft fft2 fftfreq fftn fftshift idct idctn idst idstn ifft "
        "ifft2 ifftn ifftshift irfft rfft rfftfreq",
        "treadle.scipy.interpolate": "barycentric_interpolate griddata interpn krogh_interpolate splev",
        "treadle.scipy.linalg": "block_diag cho_solve cholesky circulant companion convolution_matrix coshm cosm "
        "det dft diagsvd eigvals eigvalsh expm fiedler fiedler_companion hadamard hankel helmert hilbert inv "
        "khatri_rao leslie lu_solve norm null_space orth sinhm sinm solve solve_triangular svdvals tanhm tanm "
        "toeplitz",
        "treadle.scipy.ndimage": "affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes "
        "binary_hit_or_miss binary_opening binary_propagation black_tophat convolve convolve1d correlate "
        "correlate1d distance_transform_edt fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform "
        "gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace generate_binary_structure "
        "generic_filter generic_filter1d generic_gradient_magnitude generic_laplace grey_closing grey_dilation "
        "grey_erosion grey_opening histogram iterate_structure labeled_comprehension laplace map_coordinates "
        "maximum maximum_filter maximum_filter1d mean median median_filter minimum minimum_filter minimum_filter1d "
        "morphological_gradient morphological_laplace percentile_filter prewitt rank_filter rotate shift sobel "
        "spline_filter spline_filter1d standard_deviation sum sum_labels uniform_filter uniform_filter1d variance "
        "white_tophat zoom",
        "treadle.scipy.signal": "band_stop_obj check_COLA check_NOLA chirp convolve convolve2d correlate "
        "correlate2d correlation_lags cspline1d cspline1d_eval cspline2d cwt czt czt_points decimate detrend "
        "fftconvolve filtfilt findfreqs firls firwin firwin2 gauss_spline get_window hilbert hilbert2 lfilter_zi "
        "lfiltic lombscargle medfilt medfilt2d minimum_phase morlet morlet2 oaconvolve order_filter qmf qspline1d "
        "qspline1d_eval qspline2d resample_poly ricker savgol_coeffs savgol_filter sawtooth sepfir2d sosfilt_zi "
        "sosfiltfilt spline_filter square sweep_poly symiirorder1 symiirorder2 tf2sos unit_impulse upfirdn wiener "
        "zoom_fft zpk2sos",
        "treadle.scipy.signal.windows": "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine "
        "exponential flattop gaussian general_cosine general_gaussian general_hamming get_window hamming hann "
        "kaiser kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey",
        "treadle.scipy.sparse.linalg": "norm spsolve spsolve_triangular",
        "treadle.scipy.spatial": "distance_matrix minkowski_distance minkowski_distance_p",
        "treadle.scipy.spatial.distance": "braycurtis canberra cdist chebyshev cityblock correlation cosine dice "
        "distance_matrix euclidean hamming hellinger jaccard jensenshannon kl_divergence mahalanobis minkowski "
        "pdist rogerstanimoto russellrao seuclidean sokalsneath sqeuclidean squareform yule",
        "treadle.scipy.special": "boxcox boxcox1p cosdg cosm1 cotdg diric entr exp10 gamma huber inv_boxcox "
        "inv_boxcox1p kl_div lambertw log_expit log_softmax lpmv multigammaln polygamma pseudo_huber radian "
        "rel_entr sinc sindg softmax sph_harm_y spherical_yn tandg wright_bessel xlog1py zeta",
        "treadle.scipy.stats": "boxcox_llf circmean circstd circvar entropy gmean gstd gzscore hmean iqr kurtosis "
        "median_abs_deviation moment pmean rankdata sem skew tiecorrect tmax tmean tmin trim_mean tsem tstd tvar "
        "variation yeojohnson_llf zmap zscore",
    },
    "tuple[ndarray, ndarray, ndarray]": {
        "treadle.scipy.signal": "bilinear_zpk bode cheb1ap cheb2ap dbode lp2bs_zpk lp2hp_zpk lsim peak_prominences "
        "residue residuez sos2zpk ss2zpk tf2zpk",
        "treadle.scipy.sparse": "find",
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
        "treadle.random": "Generator.spawn RandomState.get_state RandomState.set_state RandomState.seed",
        "treadle": "einsum_path broadcast poly1d topk frompyfunc common_type histogram2d histogramdd fuse graph jit "
        "njit prange stencil map vmap mesh shard debug build guvectorize vectorize install ndenumerate nditer "
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
        "Tensor.size Tensor.split Tensor.chunk sparse_coo_tensor",
        "treadle.linalg": "svd",
        "treadle.torch.linalg": "cholesky_ex inv_ex lu lu_factor lu_factor_ex slogdet solve_ex ldl_factor "
        "ldl_factor_ex eig eigh qr svd lstsq",
        "treadle.torch.nn.functional": "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
        "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices multi_head_attention_forward",
    },
}

# What the methods of a class give where RESULTS says nothing else.
METHODS = {
    "treadle.ndarray": "ndarray",
    "treadle.torch.Tensor": "Tensor",
    "treadle.random.Generator": "ndarray",
    "treadle.random.RandomState": "ndarray",
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
