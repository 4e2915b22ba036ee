"""The names of PyCUDA that programs, tests and its documentation use, and where treadle.pycuda has them."""

import importlib
import inspect
import re

# A line: the names' beginning, a colon, names; behind a name how often programs were seen to use it.
_TABLE = """
Context: synchronize 28 get_device 8 pop 3 detach 2 set_limit 2 push 1
Device: compute_capability 5 count 3 make_context 3 name 2 total_memory 2 get_attributes 1 get_attribute 1
    retain_primary_context 1
Event: record 37 time_till 12 time_since 6 query
Function: prepared_call 21 prepare 16 get_attribute 1 num_regs 1 prepared_async_call
GPUArray: get 230 astype 126 all 58 flags 37 gpudata 33 nbytes 23 size 21 reshape 20 fill 12 strides 10 real 8 copy 7 imag 6
    conj 6 allocator 6 transpose 5 ravel 5 T 4 mem_size 4 mul_add 4 view 4 bind_to_texref_ext 3 any 2 squeeze 2 ptr 1 reverse 1
    get_async set set_async
Memcpy2D/3D: height 3 depth 2 src_pitch 2 width_in_bytes 2 dst_pitch 1 set_dst_array 1 set_dst_device 1 set_src_array 1
    set_src_host 1 src_height 1
Memory: allocate 9 free 7 stop_holding 3
Module: get_function 58 get_texref 13 get_global 3 get_surfref 2
Stream: synchronize 28
TextureReference: set_array 7 set_filter_mode 2 set_address 1 set_flags 1 set_format 1
curandom generator: gen_log_normal 6 gen_normal 6 gen_uniform 4 fill_poisson 3 gen_poisson 3 fill_uniform
pycuda: gpuarray 6 cumath 2 VERSION 1 driver 1 gl 1 VERSION_STATUS VERSION_TEXT
pycuda.autoinit: context.set_limit 2 device 1 context.synchronize context
pycuda.blas: ones(dtype=) 2
pycuda.characterize: has_double_support 8
pycuda.compiler: SourceModule 53 DynamicSourceModule 2 DEFAULT_NVCC_FLAGS 2 SourceModule(no_extern_c=) 2 DynamicModule 1
    DynamicSourceModule(keep=) 1 SourceModule(cache_dir=) 1 SourceModule(keep=) 1 compile
pycuda.cumath: sin 4 acos 2 ceil 2 cos 2 cosh 2 exp 2 log10 2 sinh 2 tan 2 tanh 2 log 1 asin 1 atan 1 fabs 1 fmod 1 frexp 1
    ldexp 1 log10().get 1 modf 1 sqrt 1 floor
pycuda.curandom: rand 43 get_curand_version 18 rand(dtype=) 15 MRG32k3aRandomNumberGenerator 3
    ScrambledSobol32RandomNumberGenerator 3 ScrambledSobol64RandomNumberGenerator 3 Sobol32RandomNumberGenerator 3
    Sobol64RandomNumberGenerator 3 XORWOWRandomNumberGenerator 3 rand().astype 2 rand().get 2 rand().transpose 1
    generate_direction_vectors generate_scramble_constants32 generate_scramble_constants64 seed_getter_uniform
    seed_getter_unique
pycuda.curandom.MRG32k3aRandomNumberGenerator: call_skip_ahead call_skip_ahead_sequence call_skip_ahead_sequence_array
    fill_log_normal fill_normal fill_poisson fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.curandom.ScrambledSobol32RandomNumberGenerator: call_skip_ahead call_skip_ahead_array fill_log_normal fill_normal
    fill_poisson fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.curandom.ScrambledSobol64RandomNumberGenerator: call_skip_ahead call_skip_ahead_array fill_log_normal fill_normal
    fill_poisson fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.curandom.Sobol32RandomNumberGenerator: call_skip_ahead call_skip_ahead_array fill_log_normal fill_normal fill_poisson
    fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.curandom.Sobol64RandomNumberGenerator: call_skip_ahead call_skip_ahead_array fill_log_normal fill_normal fill_poisson
    fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.curandom.XORWOWRandomNumberGenerator: call_skip_ahead call_skip_ahead_sequence call_skip_ahead_sequence_array
    fill_log_normal fill_normal fill_poisson fill_uniform gen_log_normal gen_normal gen_poisson gen_uniform
pycuda.driver: Event 28 Out 26 mem_alloc 23 get_driver_version 13 memcpy_dtoh 12 memcpy_htod 11 to_device 11 get_version 9 In 8
    Stream 7 matrix_to_texref 5 matrix_to_texref(order=) 5 mem_alloc_like 5 from_device_like 4 mem_get_info 4 init 3 Device 3
    memcpy_htod_async 3 np_to_array 3 np_to_array(allowSurfaceBind=) 3 InOut 2 bind_array_to_texref 2 filter_mode.LINEAR 2
    gpuarray_to_array 2 gpuarray_to_array(allowSurfaceBind=) 2 make_multichannel_2d_array 2 make_multichannel_2d_array(order=) 2
    memcpy_dtoh_async 2 pagelocked_zeros 2 pagelocked_zeros(dtype=) 2 Array 1 ArrayDescriptor3D 1 Memcpy2D 1 Memcpy3D 1
    MemoryError 1 PointerHolderBase 1 TRSA_OVERRIDE_FORMAT 1 aligned_empty 1 dtype_to_array_format 1 from_device 1
    matrix_to_array 1 pagelocked_empty_like 1 register_host_memory 1 managed_zeros module_from_file CompileError
    Device().get_attributes memset_d32 AlignedHostAllocation AlignedHostAllocation.free ArgumentHandler Array.handle
    ArrayDescriptor Context DeviceAllocation DeviceAllocation.as_buffer DeviceAllocation.free Error Function HostAllocation
    HostPointer HostPointer.get_device_pointer IPCMemoryHandle IPCMemoryHandle.close LaunchError LogicError ManagedAllocation
    Memcpy3DPeer Memcpy3DPeer.set_dst_context Memcpy3DPeer.set_src_context Module PagelockedHostAllocation
    PagelockedHostAllocation.free PagelockedHostAllocation.get_flags PointerHolderBase.as_buffer PointerHolderBase.get_pointer
    RegisteredHostMemory RegisteredHostMemory.base RegisteredHostMemory.unregister RuntimeError Stream.is_done
    Stream.wait_for_event SurfaceReference SurfaceReference.get_array SurfaceReference.set_array TRSF_NORMALIZED_COORDINATES
    TRSF_READ_AS_INTEGER TR_DEFAULT TextureReference address_mode aligned_empty_like aligned_zeros aligned_zeros_like
    array3d_flags array_cubemap_face array_format compute_mode ctx_flags device_attribute event_flags filter_mode
    filter_mode.POINT func_cache function_attribute graphics_register_flags graphics_register_flags.NONE host_alloc_flags
    initialize_profiler ipc_mem_flags ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS jit_fallback jit_fallback.PREFER_BINARY
    jit_fallback.PREFER_PTX jit_option jit_target limit managed_empty managed_empty_like managed_zeros_like mem_alloc_pitch
    mem_attach_flags mem_get_ipc_handle mem_host_register_flags mem_host_register_flags.DEVICEMAP
    mem_host_register_flags.PORTABLE memcpy_atoa memcpy_atod memcpy_atoh memcpy_dtoa memcpy_dtod memcpy_dtod_async memcpy_htoa
    memcpy_peer memcpy_peer_async memory_type memset_d16 memset_d16_async memset_d2d16 memset_d2d16_async memset_d2d32
    memset_d2d32_async memset_d2d8 memset_d2d8_async memset_d32_async memset_d8 memset_d8_async module_from_buffer
    pagelocked_empty pagelocked_zeros_like pointer_attribute pointer_attribute.CONTEXT profiler_output_mode
    profiler_output_mode.KEY_VALUE_PAIR shared_config start_profiler stop_profiler
pycuda.driver.ArrayDescriptor: format height num_channels width
pycuda.driver.ArrayDescriptor3D: depth format height num_channels width
pycuda.driver.CompileError: command_line msg stderr stdout
pycuda.driver.Context: get_device 8 synchronize 7 get_device().compute_capability 3 get_device().compute_mode 2
    get_device().make_context 1 get_device().retain_primary_context 1 get_device().total_memory 1 disable_peer_access
    enable_peer_access get_api_version get_cache_config get_limit get_shared_config set_cache_config set_shared_config
pycuda.driver.Device: count 3 can_access_peer pci_bus_id
pycuda.driver.Event: from_ipc_handle ipc_handle synchronize
pycuda.driver.Function: launch launch_grid launch_grid_async local_size_bytes param_set param_set_size param_set_texref
    param_setf param_seti prepared_timed_call set_attribute set_block_shape set_cache_config set_shared_config set_shared_size
    shared_size_bytes
pycuda.driver.ManagedAllocation: attach free get_device_pointer
pycuda.driver.Memcpy2D: height set_dst_array set_dst_device set_dst_host set_dst_unified set_src_array set_src_device
    set_src_host set_src_unified src_pitch src_x_in_bytes src_y width_in_bytes
pycuda.driver.Memcpy3D: depth dst_height dst_z src_height src_z
pycuda.driver.TextureReference: get_address_mode get_array get_filter_mode get_flags get_format set_address set_address_2d
    set_address_mode set_array set_flags set_format
pycuda.driver.address_mode: BORDER CLAMP MIRROR WRAP
pycuda.driver.array_format: FLOAT 1 HALF SIGNED_INT16 SIGNED_INT32 SIGNED_INT8 UNSIGNED_INT16 UNSIGNED_INT32 UNSIGNED_INT8
pycuda.driver.compute_mode: EXCLUSIVE 2 DEFAULT EXCLUSIVE_PROCESS PROHIBITED
pycuda.driver.ctx_flags: FLAGS_MASK LMEM_RESIZE_TO_MAX MAP_HOST SCHED_AUTO SCHED_BLOCKING_SYNC SCHED_MASK SCHED_SPIN SCHED_YIELD
pycuda.driver.device_attribute: CONCURRENT_KERNELS 1 MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Y MAX_BLOCK_DIM_Z MAX_GRID_DIM_X
    MAX_GRID_DIM_Y MAX_GRID_DIM_Z MAX_THREADS_PER_BLOCK CAN_MAP_HOST_MEMORY CLOCK_RATE COMPUTE_MODE ECC_ENABLED GPU_OVERLAP
    INTEGRATED KERNEL_EXEC_TIMEOUT MAXIMUM_TEXTURE1D_WIDTH MAXIMUM_TEXTURE2D_LAYERED_WIDTH MAX_PITCH MAX_REGISTERS_PER_BLOCK
    MAX_SHARED_MEMORY_PER_BLOCK MEMORY_CLOCK_RATE MULTIPROCESSOR_COUNT PCI_BUS_ID PCI_DEVICE_ID REGISTERS_PER_BLOCK
    SHARED_MEMORY_PER_BLOCK SURFACE_ALIGNMENT TCC_DRIVER TEXTURE_ALIGNMENT TOTAL_CONSTANT_MEMORY WARP_SIZE
pycuda.driver.event_flags: BLOCKING_SYNC DEFAULT DISABLE_TIMING INTERPROCESS
pycuda.driver.func_cache: PREFER_EQUAL PREFER_L1 PREFER_NONE PREFER_SHARED
pycuda.driver.function_attribute: BINARY_VERSION CACHE_MODE_CA CONST_SIZE_BYTES LOCAL_SIZE_BYTES MAX
    MAX_DYNAMIC_SHARED_SIZE_BYTES MAX_THREADS_PER_BLOCK NUM_REGS PREFERRED_SHARED_MEMORY_CARVEOUT PTX_VERSION SHARED_SIZE_BYTES
pycuda.driver.host_alloc_flags: DEVICEMAP PORTABLE WRITECOMBINED
pycuda.driver.jit_option: ERROR_LOG_BUFFER ERROR_LOG_BUFFER_SIZE_BYTES FALLBACK_STRATEGY INFO_LOG_BUFFER
    INFO_LOG_BUFFER_SIZE_BYTES MAX_REGISTERS OPTIMIZATION_LEVEL TARGET TARGET_FROM_CUCONTEXT THREADS_PER_BLOCK WALL_TIME
pycuda.driver.jit_target: COMPUTE_10 COMPUTE_11 COMPUTE_12 COMPUTE_13 COMPUTE_20 COMPUTE_21
pycuda.driver.limit: DEV_RUNTIME_SYNC_DEPTH 1 PRINTF_FIFO_SIZE 1 MALLOC_HEAP_SIZE STACK_SIZE
pycuda.driver.mem_attach_flags: GLOBAL HOST SINGLE
pycuda.driver.memory_type: ARRAY DEVICE HOST
pycuda.driver.shared_config: DEFAULT_BANK_SIZE EIGHT_BYTE_BANK_SIZE FOUR_BYTE_BANK_SIZE
pycuda.elementwise: ElementwiseKernel 9 ElementwiseKernel(preamble=) 4 VectorArg 4 ScalarArg 2 ElementwiseKernel(arguments=) 1
    ElementwiseKernel(name=) 1 ElementwiseKernel(operation=) 1 get_elwise_module 1 get_elwise_module(loop_prep=) 1
    get_linear_combination_kernel 1 get_pow_kernel
pycuda.gl: BufferObject 4 RegisteredBuffer 1 graphics_map_flags.WRITE_DISCARD 1 autoinit.context autoinit.device
pycuda.gpuarray: to_gpu 124 zeros 27 zeros(dtype=) 18 empty 17 empty_like 14 arange 11 arange(dtype=) 11 empty(dtype=) 9
    GPUArray 5 vec.float3 5 vec.make_float3 5 zeros_like 4 ones 4 zeros(order=) 4 sum 3 dot 3 if_positive 3 logical_not 3
    logical_not().get 3 GPUArray(gpudata=) 2 maximum 2 minimum 2 zeros(shape=) 2 GPUArray(dtype=) 1 GPUArray(order=) 1
    arange().astype 1 concatenate 1 dot().get 1 dot(allocator=) 1 multi_take_put 1 multi_take_put(arrays=) 1
    multi_take_put(dest_indices=) 1 multi_take_put(dest_shape=) 1 multi_take_put(src_indices=) 1 multi_take_put(src_offsets=) 1
    ones(dtype=) 1 ones_like 1 stack 1 stack(axis=) 1 subset_min 1 subset_min().get 1 subset_sum 1 subset_sum().get 1
    subset_sum(allocator=) 1 sum().get 1 sum(allocator=) 1 take 1 to_gpu(allocator=) 1 where 1 where().get 1 to_gpu_async max
    sum().reshape max().reshape min min().reshape GPUArray.bind_to_texref all any logical_and logical_or subset_dot subset_max
pycuda.reduction: ReductionKernel 3 ReductionKernel(arguments=) 3 ReductionKernel(neutral=) 3 ReductionKernel(reduce_expr=) 3
    ReductionKernel(map_expr=) 2 ReductionKernel(preamble=) 1 get_dot_kernel 1
pycuda.scan: InclusiveScanKernel 2 ExclusiveScanKernel 2 pycuda.tools.register_dtype
pycuda.sparse: operator.DiagonalPreconditioner 1 packeted.PacketedSpMV 1
pycuda.sparse.cg: solve_pkt_with_cg 1 solve_pkt_with_cg(pagelocked_allocator=) 1 solve_pkt_with_cg(tol=) 1
pycuda.tools: mark_cuda_test 39 dtype_to_ctype 7 DeviceMemoryPool 6 bitlog2 6 context_dependent_memoize 2 PageLockedMemoryPool 1
    init_cuda_context_fixture 1 register_dtype 1 make_default_context clear_context_caches DeviceData OccupancyRecord
    PageLockedAllocator PooledDeviceAllocation PooledDeviceAllocation.free PooledHostAllocation PooledHostAllocation.free
    get_default_device
pycuda.tools.DeviceData: align align_bytes align_dtype align_words make_valid_tex_channel_count max_threads registers
    shared_memory smem_alloc_granularity smem_granularity thread_blocks_per_mp warp_size warps_per_mp
pycuda.tools.DeviceMemoryPool: active_blocks active_bytes allocate free_held held_blocks managed_bytes stop_holding
pycuda.tools.OccupancyRecord: limited_by occupancy tb_per_mp warps_per_mp
pycuda.tools.PageLockedMemoryPool: active_blocks allocate free_held held_blocks stop_holding
"""

# How the table calls what has no name of its own, and what an expression in a name gives.
_STANDS_FOR = {
    "GPUArray": "pycuda.gpuarray.GPUArray",
    "Module": "pycuda.driver.Module",
    "Function": "pycuda.driver.Function",
    "Context": "pycuda.driver.Context",
    "Device": "pycuda.driver.Device",
    "Event": "pycuda.driver.Event",
    "Stream": "pycuda.driver.Stream",
    "TextureReference": "pycuda.driver.TextureReference",
    "Memcpy2D/3D": "pycuda.driver.Memcpy3D",
    "Memory": "pycuda.tools.PooledDeviceAllocation",
    "Memory.allocate": "pycuda.tools.DeviceMemoryPool.allocate",
    "Memory.stop_holding": "pycuda.tools.DeviceMemoryPool.stop_holding",
    "curandom generator": "pycuda.curandom.XORWOWRandomNumberGenerator",
    "pycuda.autoinit.context": "pycuda.driver.Context",
    "pycuda.driver.Context.get_device()": "pycuda.driver.Device",
    "pycuda.driver.Device()": "pycuda.driver.Device",
    "pycuda.scan.pycuda": "pycuda",
}
# Attributes that instances have and their classes have not.
_OF_INSTANCES = {
    "pycuda.driver.Device": lambda driver, name: name.upper() in driver.device_attribute.__members__,
    "pycuda.driver.ArrayDescriptor": lambda driver, name: hasattr(driver.ArrayDescriptor(), name),
    "pycuda.driver.ArrayDescriptor3D": lambda driver, name: hasattr(driver.ArrayDescriptor3D(), name),
    "pycuda.driver.RegisteredHostMemory": lambda driver, name: name == "base",
}
_INSTANCES = {
    "pycuda.tools.DeviceData",
    "pycuda.tools.OccupancyRecord",
    "pycuda.tools.DeviceMemoryPool",
    "pycuda.tools.PageLockedMemoryPool",
}


def names():
    """name → how often it is used."""
    found = {}
    for line in re.sub(r"\n {4}", " ", _TABLE.strip()).splitlines():
        head, _, rest = line.partition(": ")
        last = None
        for word in rest.split(" "):
            if word.isdigit():
                found[last] = int(word)
            else:
                last = f"{head}.{word}"
                found[last] = 0
    return found


def _plain(name):
    """The path of a name: expressions and stand-ins replaced by what they give."""
    name = re.sub(r"^(pycuda\.(?:curandom|gpuarray|cumath)\.\w+)\(\)", "pycuda.gpuarray.GPUArray", name)
    for short in sorted(_STANDS_FOR, key=len, reverse=True):
        if name == short or name.startswith(short + "."):
            return _STANDS_FOR[short] + name[len(short) :]
    return name


def _source_sets(cls, name):
    """Does the class's text set self.name?"""
    return any(
        re.search(rf"self\.({name}\b|[\w., =]*\bself\.{name}\b)", inspect.getsource(c))
        for c in cls.__mro__[:-1]
        if c.__module__.startswith("treadle")
    )


def missing(name):
    """Why treadle.pycuda has not the name; None: it has."""
    path, _, keyword = _plain(name).partition("(")
    parts = path.split(".")
    if "autoinit" in parts:  # importing it makes a context
        return None if parts[2:] in ([], ["context"], ["device"]) else "no such name"
    at, used = importlib.import_module("treadle.pycuda"), ["pycuda"]
    driver = importlib.import_module("treadle.pycuda.driver")
    for part in parts[1:]:
        here = ".".join(used)
        used.append(part)
        if inspect.ismodule(at) and not hasattr(at, part):
            try:
                at = importlib.import_module(f"treadle.{'.'.join(used)}")
                continue
            except ImportError:
                return f"no module {'.'.join(used)}"
        if hasattr(at, part):
            at = getattr(at, part)
        elif (here in _OF_INSTANCES and _OF_INSTANCES[here](driver, part)) or (
            here in _INSTANCES and _source_sets(at, part)
        ):
            return None
        else:
            return f"{here} has no {part}"
    if keyword:
        parameters = inspect.signature(at).parameters
        kinds = {p.kind for p in parameters.values()}
        if keyword.strip("=)") not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            return f"no parameter {keyword.strip('=)')}"
    return None
