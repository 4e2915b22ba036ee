"""A device's attributes: CUDA's number and name of each, and the value for the CPU.

On the CPU the threads of a kernel's block run as vector lanes of one piece of code. Its limits are those that programs
for GPUs expect. None means that a CPU has no such attribute.
"""

# number, name, the CPU's value ("units": the number of cores)
_ROWS = (
    (1, "MAX_THREADS_PER_BLOCK", 1024), (2, "MAX_BLOCK_DIM_X", 1024), (3, "MAX_BLOCK_DIM_Y", 1024),
    (4, "MAX_BLOCK_DIM_Z", 64), (5, "MAX_GRID_DIM_X", 2**31 - 1), (6, "MAX_GRID_DIM_Y", 65535),
    (7, "MAX_GRID_DIM_Z", 65535), (8, "MAX_SHARED_MEMORY_PER_BLOCK", 48 << 10), (9, "TOTAL_CONSTANT_MEMORY", 64 << 10),
    (10, "WARP_SIZE", 32), (11, "MAX_PITCH", 2**31 - 1), (12, "MAX_REGISTERS_PER_BLOCK", 65536),
    (13, "CLOCK_RATE", None), (14, "TEXTURE_ALIGNMENT", None), (15, "GPU_OVERLAP", 0),
    (16, "MULTIPROCESSOR_COUNT", "units"),
    (17, "KERNEL_EXEC_TIMEOUT", 0), (18, "INTEGRATED", 1), (19, "CAN_MAP_HOST_MEMORY", 1), (20, "COMPUTE_MODE", 0),
    (30, "SURFACE_ALIGNMENT", None), (31, "CONCURRENT_KERNELS", 1), (32, "ECC_ENABLED", None), (33, "PCI_BUS_ID", None),
    (34, "PCI_DEVICE_ID", None), (35, "TCC_DRIVER", None), (36, "MEMORY_CLOCK_RATE", None),
    (37, "GLOBAL_MEMORY_BUS_WIDTH", None), (38, "L2_CACHE_SIZE", None), (39, "MAX_THREADS_PER_MULTI_PROCESSOR", 1024),
    (40, "ASYNC_ENGINE_COUNT", 0), (41, "UNIFIED_ADDRESSING", 1), (50, "PCI_DOMAIN_ID", None),
    (75, "COMPUTE_CAPABILITY_MAJOR", 9), (76, "COMPUTE_CAPABILITY_MINOR", 0), (78, "STREAM_PRIORITIES_SUPPORTED", 0),
    (79, "GLOBAL_L1_CACHE_SUPPORTED", 1), (80, "LOCAL_L1_CACHE_SUPPORTED", 1),
    (81, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", 48 << 10), (82, "MAX_REGISTERS_PER_MULTIPROCESSOR", 65536),
    (83, "MANAGED_MEMORY", 1), (84, "MULTI_GPU_BOARD", 0), (85, "MULTI_GPU_BOARD_GROUP_ID", None),
    (86, "HOST_NATIVE_ATOMIC_SUPPORTED", 1), (87, "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO", 2),
    (88, "PAGEABLE_MEMORY_ACCESS", 1), (89, "CONCURRENT_MANAGED_ACCESS", 1), (90, "COMPUTE_PREEMPTION_SUPPORTED", 1),
    (91, "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM", 1), (95, "COOPERATIVE_LAUNCH", 1),
    (97, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 48 << 10), (100, "PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES", 1),
    (101, "DIRECT_MANAGED_MEM_ACCESS_FROM_HOST", 1), (102, "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED", 0),
    (106, "MAX_BLOCKS_PER_MULTIPROCESSOR", 1), (111, "RESERVED_SHARED_MEMORY_PER_BLOCK", 0),
)  # fmt: skip

NUMBER = {name: number for number, name, _ in _ROWS}
CPU = {name: value for _, name, value in _ROWS}

# CuPy's name of each, that of cudaDevAttr.
_OTHERWISE = {
    "MULTIPROCESSOR_COUNT": "MultiProcessorCount", "MULTI_GPU_BOARD": "IsMultiGpuBoard",
    "MULTI_GPU_BOARD_GROUP_ID": "MultiGpuBoardGroupID", "L2_CACHE_SIZE": "L2CacheSize",
    "GLOBAL_L1_CACHE_SUPPORTED": "GlobalL1CacheSupported", "LOCAL_L1_CACHE_SUPPORTED": "LocalL1CacheSupported",
}  # fmt: skip
RUNTIME_NAMES = {n: _OTHERWISE.get(n) or "".join(w.capitalize() for w in n.split("_")) for n in NUMBER}
