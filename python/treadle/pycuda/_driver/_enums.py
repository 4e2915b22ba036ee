"""PyCUDA's constants: classes whose members are ints with CUDA's numbers."""

import enum

from ...cuda._attributes import NUMBER


class _Int(enum.IntEnum):
    """An int with a name, which is its str()."""

    def __str__(self):
        return self.name


class _Bits(enum.IntFlag):
    """Ints with names that can be combined. str() joins the names by |."""

    def __str__(self):
        return self.name or str(int(self))


def _ints(name, doc, **members):
    made = _Int(name, members, module=__name__)
    made.__doc__ = doc
    return made


def _bits(name, doc, **members):
    made = _Bits(name, members, module=__name__)
    made.__doc__ = doc
    return made


ctx_flags = _bits("ctx_flags", "How a context waits. They change nothing here: contexts are primary ones.",
    SCHED_AUTO=0, SCHED_SPIN=1, SCHED_YIELD=2, SCHED_BLOCKING_SYNC=4, BLOCKING_SYNC=4, SCHED_MASK=7, MAP_HOST=8,
    LMEM_RESIZE_TO_MAX=16, FLAGS_MASK=31)  # fmt: skip
event_flags = _bits("event_flags", "Of Event.", DEFAULT=0, BLOCKING_SYNC=1, DISABLE_TIMING=2, INTERPROCESS=4)
stream_flags = _bits("stream_flags", "Of Stream.", DEFAULT=0, NON_BLOCKING=1)
host_alloc_flags = _bits("host_alloc_flags", "Of pagelocked_empty.", PORTABLE=1, DEVICEMAP=2, WRITECOMBINED=4)
mem_host_register_flags = _bits("mem_host_register_flags", "Of register_host_memory.", PORTABLE=1, DEVICEMAP=2)
mem_attach_flags = _bits("mem_attach_flags", "Who may use managed memory.", GLOBAL=1, HOST=2, SINGLE=4)
ipc_mem_flags = _bits("ipc_mem_flags", "Of IPCMemoryHandle.", LAZY_ENABLE_PEER_ACCESS=1)
array3d_flags = _bits("array3d_flags", "Of ArrayDescriptor3D.", LAYERED=1, ARRAY3D_LAYERED=1, SURFACE_LDST=2,
    ARRAY3D_SURFACE_LDST=2, CUBEMAP=4, ARRAY3D_CUBEMAP=4, TEXTURE_GATHER=8, ARRAY3D_TEXTURE_GATHER=8)  # fmt: skip
graphics_register_flags = _bits("graphics_register_flags", "Of pycuda.gl, which is not here.", NONE=0, READ_ONLY=1,
    WRITE_DISCARD=2, SURFACE_LDST=4, TEXTURE_GATHER=8)  # fmt: skip

array_format = _ints("array_format", "What a channel of an array's element is.", UNSIGNED_INT8=1, UNSIGNED_INT16=2,
    UNSIGNED_INT32=3, SIGNED_INT8=8, SIGNED_INT16=9, SIGNED_INT32=10, HALF=0x10, FLOAT=0x20)  # fmt: skip
array_cubemap_face = _ints("array_cubemap_face", "Faces of cube maps.", POSITIVE_X=0, NEGATIVE_X=1, POSITIVE_Y=2,
    NEGATIVE_Y=3, POSITIVE_Z=4, NEGATIVE_Z=5)  # fmt: skip
address_mode = _ints("address_mode", "What a texture shows outside of it.", WRAP=0, CLAMP=1, MIRROR=2, BORDER=3)
filter_mode = _ints("filter_mode", "What a texture shows between elements.", POINT=0, LINEAR=1)
memory_type = _ints("memory_type", "Where memory is.", HOST=1, DEVICE=2, ARRAY=3, UNIFIED=4)
compute_mode = _ints("compute_mode", "Who may use a device.", DEFAULT=0, EXCLUSIVE=1, PROHIBITED=2, EXCLUSIVE_PROCESS=3)
func_cache = _ints("func_cache", "Which is to be large.", PREFER_NONE=0, PREFER_SHARED=1, PREFER_L1=2, PREFER_EQUAL=3)
shared_config = _ints("shared_config", "How wide banks of shared memory are.", DEFAULT_BANK_SIZE=0,
    FOUR_BYTE_BANK_SIZE=1, EIGHT_BYTE_BANK_SIZE=2)  # fmt: skip
limit = _ints("limit", "What Context.set_limit sets.", STACK_SIZE=0, PRINTF_FIFO_SIZE=1, MALLOC_HEAP_SIZE=2,
    DEV_RUNTIME_SYNC_DEPTH=3, DEV_RUNTIME_PENDING_LAUNCH_COUNT=4, MAX_L2_FETCH_GRANULARITY=5,
    PERSISTING_L2_CACHE_SIZE=6)  # fmt: skip
function_attribute = _ints("function_attribute", "What the driver knows of a kernel.", MAX_THREADS_PER_BLOCK=0,
    SHARED_SIZE_BYTES=1, CONST_SIZE_BYTES=2, LOCAL_SIZE_BYTES=3, NUM_REGS=4, PTX_VERSION=5, BINARY_VERSION=6,
    CACHE_MODE_CA=7, MAX_DYNAMIC_SHARED_SIZE_BYTES=8, PREFERRED_SHARED_MEMORY_CARVEOUT=9, MAX=16)  # fmt: skip
pointer_attribute = _ints("pointer_attribute", "What the driver knows of an address.", CONTEXT=1, MEMORY_TYPE=2,
    DEVICE_POINTER=3, HOST_POINTER=4)  # fmt: skip
profiler_output_mode = _ints("profiler_output_mode", "Of initialize_profiler.", KEY_VALUE_PAIR=0, CSV=1)
jit_option = _ints("jit_option", "Of module_from_buffer.", MAX_REGISTERS=0, THREADS_PER_BLOCK=1, WALL_TIME=2,
    INFO_LOG_BUFFER=3, INFO_LOG_BUFFER_SIZE_BYTES=4, ERROR_LOG_BUFFER=5, ERROR_LOG_BUFFER_SIZE_BYTES=6,
    OPTIMIZATION_LEVEL=7, TARGET_FROM_CUCONTEXT=8, TARGET=9, FALLBACK_STRATEGY=10)  # fmt: skip
jit_target = _ints("jit_target", "Of jit_option.TARGET.", COMPUTE_10=10, COMPUTE_11=11, COMPUTE_12=12, COMPUTE_13=13,
    COMPUTE_20=20, COMPUTE_21=21)  # fmt: skip
jit_fallback = _ints("jit_fallback", "Of jit_option.FALLBACK_STRATEGY.", PREFER_PTX=0, PREFER_BINARY=1)
jit_input_type = _ints("jit_input_type", "What a linker is given.", CUBIN=0, PTX=1, FATBINARY=2, OBJECT=3, LIBRARY=4)

# Attributes that numba-cuda lacks, and names that CUDA has replaced.
_MORE = {
    "SHARED_MEMORY_PER_BLOCK": 8, "REGISTERS_PER_BLOCK": 12, "MAX_THREADS_PER_MULTIPROCESSOR": 39,
    "MAXIMUM_TEXTURE1D_WIDTH": 21, "MAXIMUM_TEXTURE2D_WIDTH": 22,
    "MAXIMUM_TEXTURE2D_HEIGHT": 23, "MAXIMUM_TEXTURE3D_WIDTH": 24, "MAXIMUM_TEXTURE3D_HEIGHT": 25,
    "MAXIMUM_TEXTURE3D_DEPTH": 26, "MAXIMUM_TEXTURE2D_ARRAY_WIDTH": 27, "MAXIMUM_TEXTURE2D_ARRAY_HEIGHT": 28,
    "MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES": 29, "MAXIMUM_TEXTURE2D_LAYERED_WIDTH": 27,
    "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT": 28, "MAXIMUM_TEXTURE2D_LAYERED_LAYERS": 29,
    "MAXIMUM_TEXTURE1D_LAYERED_WIDTH": 42, "MAXIMUM_TEXTURE1D_LAYERED_LAYERS": 43, "MAXIMUM_TEXTURE2D_GATHER_WIDTH": 45,
    "MAXIMUM_TEXTURE2D_GATHER_HEIGHT": 46, "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE": 47,
    "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE": 48, "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE": 49, "TEXTURE_PITCH_ALIGNMENT": 51,
    "MAXIMUM_TEXTURECUBEMAP_WIDTH": 52, "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH": 53,
    "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS": 54, "MAXIMUM_SURFACE1D_WIDTH": 55, "MAXIMUM_SURFACE2D_WIDTH": 56,
    "MAXIMUM_SURFACE2D_HEIGHT": 57, "MAXIMUM_SURFACE3D_WIDTH": 58, "MAXIMUM_SURFACE3D_HEIGHT": 59,
    "MAXIMUM_SURFACE3D_DEPTH": 60, "MAXIMUM_SURFACE1D_LAYERED_WIDTH": 61, "MAXIMUM_SURFACE1D_LAYERED_LAYERS": 62,
    "MAXIMUM_SURFACE2D_LAYERED_WIDTH": 63, "MAXIMUM_SURFACE2D_LAYERED_HEIGHT": 64,
    "MAXIMUM_SURFACE2D_LAYERED_LAYERS": 65, "MAXIMUM_SURFACECUBEMAP_WIDTH": 66,
    "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH": 67, "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS": 68,
    "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": 69, "MAXIMUM_TEXTURE2D_LINEAR_WIDTH": 70, "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT": 71,
    "MAXIMUM_TEXTURE2D_LINEAR_PITCH": 72, "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH": 73,
    "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT": 74, "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH": 77,
    "COOPERATIVE_MULTI_DEVICE_LAUNCH": 96,
}  # fmt: skip

device_attribute = _ints(
    "device_attribute", "What a device tells; its name in small letters is an attribute of Device.", **(NUMBER | _MORE)
)

_VALUES = {20: compute_mode}


def enum_of(number, value):
    """An attribute's value as a member of its class."""
    return _VALUES[number](value) if number in _VALUES else value


TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TRSF_SRGB = 16
TR_DEFAULT = -1
