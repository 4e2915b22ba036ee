"""CuPy's names of raw kernels, devices and memory: each that programs use is here, or docs/guide-cupy.md says why not."""

import importlib
import pathlib

import pytest

import treadle as td

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "guide-cupy.md").read_text(encoding="utf-8")

USED = """cuda.Device cupyx.jit.rawkernel cuda.Stream cupyx.jit.threadIdx cuda.runtime.runtimeGetVersion cupyx.jit.blockDim RawModule
cupyx.jit.blockIdx cuda.get_current_stream fuse get_default_memory_pool ElementwiseKernel shares_memory cupyx.jit.grid RawKernel
cuda.nccl.NcclCommunicator may_share_memory ReductionKernel cuda.runtime.driverGetVersion cupyx.jit.shared_memory
get_default_pinned_memory_pool ndarray.__cuda_array_interface__ cuda.using_allocator cuda.runtime.deviceGetAttribute
cuda.set_allocator cuda.nccl.get_unique_id cupyx.jit.syncthreads cuda.runtime.deviceCanAccessPeer
cuda.texture.ResourceDescriptor cuda.Event cupyx.jit.gridDim cuda.texture.CUDAarray cuda.texture.ChannelFormatDescriptor
cupyx.jit.cg.memcpy_async cupyx.jit.cg.this_thread_block cuda.MemoryPool cuda.memory_hooks.LineProfileHook
cuda.runtime.memGetInfo cuda.runtime.pointerGetAttributes cuda.texture.TextureDescriptor cuda.texture.TextureObject
cupyx.jit.cg.this_grid cupyx.jit.gridsize cuda.runtime.getDeviceCount cuda.set_pinned_memory_allocator
cuda.PinnedMemoryPointer cuda.get_local_runtime_version cuda.nvtx.RangePop cuda.runtime.free cupyx.jit.cg.sync
cupyx.jit.range cupyx.jit.shfl_sync cupyx.jit.syncwarp cuda.alloc_pinned_memory cuda.ExternalStream cuda.get_allocator
cuda.malloc_managed cuda.memory_hooks.DebugPrintHook cuda.nvtx.Mark cuda.nvtx.MarkC cuda.nvtx.RangePush cuda.nvtx.RangePushC
cuda.runtime.freeAsync cuda.runtime.freeHost cuda.runtime.getDevice cuda.runtime.hostAlloc cuda.runtime.malloc
cuda.runtime.mallocManaged cuda.runtime.streamCreate cuda.runtime.streamDestroy cuda.texture.SurfaceObject
cuda.get_elapsed_time cuda.alloc cuda.MemoryPointer cuda.PinnedMemoryPool cuda.UnownedMemory cuda.Graph cuda.ManagedMemory
cuda.Memory cuda.MemoryAsync cuda.MemoryAsyncPool cuda.MemoryHook cuda.PinnedMemory cuda.malloc_async
cuda.runtime.deviceEnablePeerAccess cuda.runtime.deviceGetByPCIBusId cuda.runtime.deviceGetLimit cuda.runtime.deviceGetPCIBusId
cuda.runtime.deviceSetLimit cuda.runtime.deviceSynchronize cuda.runtime.eventCreate cuda.runtime.eventCreateWithFlags
cuda.runtime.eventDestroy cuda.runtime.eventElapsedTime cuda.runtime.eventQuery cuda.runtime.eventRecord
cuda.runtime.eventSynchronize cuda.runtime.hostRegister cuda.runtime.hostUnregister cuda.runtime.launchHostFunc
cuda.runtime.mallocAsync cuda.runtime.memAdvise cuda.runtime.memPrefetchAsync cuda.runtime.memcpy cuda.runtime.memcpy2D
cuda.runtime.memcpy2DAsync cuda.runtime.memcpyAsync cuda.runtime.memcpyPeer cuda.runtime.memcpyPeerAsync cuda.runtime.memset
cuda.runtime.memsetAsync cuda.runtime.profilerStart cuda.runtime.profilerStop cuda.runtime.setDevice
cuda.runtime.streamAddCallback cuda.runtime.streamCreateWithFlags cuda.runtime.streamCreateWithPriority
cuda.runtime.streamQuery cuda.runtime.streamSynchronize cuda.runtime.streamWaitEvent cuda.runtime.mallocArray
cuda.runtime.graphLaunch cuda.runtime.memPoolCreate cuda.runtime.ipcGetMemHandle cuda.CFunctionAllocator
cuda.PythonFunctionAllocator""".split()


def _find(dotted):
    where = td
    for k, part in enumerate(dotted.split(".")):
        try:
            where = getattr(where, part)
        except AttributeError:
            try:
                where = importlib.import_module("treadle." + ".".join(dotted.split(".")[: k + 1]))
            except ImportError:
                return None
    return where


@pytest.mark.parametrize("name", USED)
def test_is_here_or_explained(name):
    if _find(name) is None:
        rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
        told = [r for r in rows if f"`{name}`" in r.split(" | ")[0]]
        assert told, f"{name}: neither in treadle nor in a table of docs/guide-cupy.md"
