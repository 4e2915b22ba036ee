"""The runtime's functions by CuPy's names (cupy.cuda.runtime): devices, addresses, copies, streams, events.

Addresses, streams and events are ints. They work on GPUs, on the null device and on the CPU, where an address is the
host's and all is done when a call returns. What lies outside of live memory is refused. Errors are treadle's:
CUDARuntimeError is treadle.Error, which all of them derive from.
"""

import ctypes
import threading

from .. import _core
from .._core import Error as CUDARuntimeError
from .._cupy import _names
from .._public import dir_of as _dir_of
from ._attributes import NUMBER, RUNTIME_NAMES
from ._devices import Device, number, profile_start, profile_stop

profilerStart, profilerStop = profile_start, profile_stop

is_hip = False
_lock = threading.Lock()
_held = {}  # address or handle: what was made for it

# ---- numbers ----

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
streamDefault, streamNonBlocking = 0, 1
streamLegacy, streamPerThread = 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
hostRegisterDefault, hostRegisterPortable, hostRegisterMapped, hostRegisterIoMemory = 0, 1, 2, 4
memAttachGlobal, memAttachHost, memAttachSingle = 1, 2, 4
cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize = 0, 1, 2
cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity = 3, 4, 5
cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged = range(4)
cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone = (
    range(4)
)
cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D = range(4)
cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder = range(4)
cudaFilterModePoint, cudaFilterModeLinear = range(2)
cudaReadModeElementType, cudaReadModeNormalizedFloat = range(2)
cudaArrayDefault, cudaArrayLayered, cudaArraySurfaceLoadStore, cudaArrayCubemap, cudaArrayTextureGather = 0, 1, 2, 4, 8
cudaIpcMemLazyEnablePeerAccess = 1
streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = range(3)
streamCaptureStatusNone, streamCaptureStatusActive, streamCaptureStatusInvalidated = range(3)
errorInvalidValue, errorMemoryAllocation, errorNoDevice, errorInvalidDevice = 1, 2, 100, 101
errorInvalidResourceHandle, errorNotReady, errorPeerAccessAlreadyEnabled = 400, 600, 704

globals().update({"cudaDevAttr" + RUNTIME_NAMES[name]: NUMBER[name] for name in NUMBER})
_NAME = {NUMBER[name]: name for name in NUMBER}


def check_status(status):
    """Raise CUDARuntimeError unless status is 0. Functions here raise by themselves."""
    if status:
        raise CUDARuntimeError(f"status {status}")


# ---- versions and devices ----


def runtimeGetVersion():
    """The version of CUDA that kernels are compiled for, 12040 for 12.4: the driver's, and 12000 where there is
    none."""
    return driverGetVersion() or 12000


def driverGetVersion():
    """The CUDA version of the driver, 13000 for 13.0; 0: there is none."""
    return _core._raw_driver_version()


def get_local_runtime_version():
    """The version of the CUDA runtime that programs would find, as runtimeGetVersion tells it."""
    return runtimeGetVersion()


def getDeviceCount():
    """How many numbers Device() takes: GPUs; 1 where the thread's current device is the CPU or the null device."""
    return sum(d.kind == "cuda" for d in _core.devices()) if _core.device().kind == "cuda" else 1


def getDevice():
    return _core.device().index


def setDevice(device):
    """The thread's current device from now on, by number. ValueError: there is none of it."""
    _core.use(number(device))


def deviceSynchronize():
    """Waits for all work on the current device; errors of kernels are raised here at the latest."""
    _core.synchronize()


def deviceGetAttribute(attrib, device):
    """The value of a cudaDevAttr…, an int. CUDARuntimeError: the device does not tell it."""
    where = number(device)
    name = _NAME.get(attrib)
    value = Device(where)._attribute(name) if name else None
    if value is None and not where.host:
        value = _core._device_attribute(where, attrib)
    if value is None:
        raise CUDARuntimeError(f"cudaDeviceGetAttribute({attrib}): {where.name} does not tell it")
    return value


_PROPERTIES = {
    "sharedMemPerBlock": "MAX_SHARED_MEMORY_PER_BLOCK", "regsPerBlock": "MAX_REGISTERS_PER_BLOCK",
    "warpSize": "WARP_SIZE", "memPitch": "MAX_PITCH", "maxThreadsPerBlock": "MAX_THREADS_PER_BLOCK",
    "totalConstMem": "TOTAL_CONSTANT_MEMORY", "clockRate": "CLOCK_RATE", "textureAlignment": "TEXTURE_ALIGNMENT",
    "multiProcessorCount": "MULTIPROCESSOR_COUNT", "kernelExecTimeoutEnabled": "KERNEL_EXEC_TIMEOUT",
    "integrated": "INTEGRATED", "canMapHostMemory": "CAN_MAP_HOST_MEMORY", "computeMode": "COMPUTE_MODE",
    "concurrentKernels": "CONCURRENT_KERNELS", "ECCEnabled": "ECC_ENABLED", "pciBusID": "PCI_BUS_ID",
    "pciDeviceID": "PCI_DEVICE_ID", "pciDomainID": "PCI_DOMAIN_ID", "tccDriver": "TCC_DRIVER",
    "memoryClockRate": "MEMORY_CLOCK_RATE", "memoryBusWidth": "GLOBAL_MEMORY_BUS_WIDTH", "l2CacheSize": "L2_CACHE_SIZE",
    "maxThreadsPerMultiProcessor": "MAX_THREADS_PER_MULTI_PROCESSOR", "asyncEngineCount": "ASYNC_ENGINE_COUNT",
    "unifiedAddressing": "UNIFIED_ADDRESSING", "major": "COMPUTE_CAPABILITY_MAJOR", "minor": "COMPUTE_CAPABILITY_MINOR",
    "streamPrioritiesSupported": "STREAM_PRIORITIES_SUPPORTED", "globalL1CacheSupported": "GLOBAL_L1_CACHE_SUPPORTED",
    "localL1CacheSupported": "LOCAL_L1_CACHE_SUPPORTED", "managedMemory": "MANAGED_MEMORY",
    "sharedMemPerMultiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "regsPerMultiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR", "isMultiGpuBoard": "MULTI_GPU_BOARD",
    "pageableMemoryAccess": "PAGEABLE_MEMORY_ACCESS", "concurrentManagedAccess": "CONCURRENT_MANAGED_ACCESS",
    "computePreemptionSupported": "COMPUTE_PREEMPTION_SUPPORTED", "cooperativeLaunch": "COOPERATIVE_LAUNCH",
    "sharedMemPerBlockOptin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "maxBlocksPerMultiProcessor": "MAX_BLOCKS_PER_MULTIPROCESSOR",
}  # fmt: skip


def getDeviceProperties(device):
    """A dict of what the device is, by the fields of cudaDeviceProp; those that it does not tell are missing."""
    d = Device(int(device))
    found = {field: d._attribute(name) for field, name in _PROPERTIES.items()}
    found = {field: value for field, value in found.items() if value is not None}
    for field, what in (("maxThreadsDim", "MAX_BLOCK_DIM_"), ("maxGridSize", "MAX_GRID_DIM_")):
        found[field] = tuple(d._attribute(what + axis) for axis in "XYZ")
    return {"name": d.name.encode(), "totalGlobalMem": d._device.memory, **found}


def deviceCanAccessPeer(device, peerDevice):
    """1 where kernels on the one reach the other's memory, else 0."""
    first, second = number(device), number(peerDevice)
    if first == second or first.kind != "cuda":
        return 0
    return int(bool(_core._raw_peer_access(first, second, 0)))


def deviceEnablePeerAccess(peerDevice):
    """Kernels on the current device reach that one's memory from now on."""
    _core._raw_peer_access(_core.device(), number(peerDevice), 1)


def deviceDisablePeerAccess(peerDevice):
    _core._raw_peer_access(_core.device(), number(peerDevice), 2)


def deviceGetByPCIBusId(pciBusId):
    return Device.from_pci_bus_id(pciBusId).id


def deviceGetPCIBusId(device):
    return Device(int(device)).pci_bus_id


def deviceGetLimit(limit):
    return _core._raw_limit(limit)


def deviceSetLimit(limit, value):
    _core._raw_limit(limit, value)


# ---- memory ----


def memGetInfo():
    """(free, total) bytes of the current device."""
    s = _core.device().memory_stats()
    return s["free"] + s["cached"], s["total"]


def _hold(key, thing):
    with _lock:
        _held[key] = thing
    return key


def _drop(key, what):
    with _lock:
        found = _held.pop(key, None)
    if found is None and key:
        raise CUDARuntimeError(f"{what}({key:#x}): nothing of that was made here, or it was given back before")
    return found


def malloc(size):
    """The address of size bytes of the current device; 0 for none. OutOfMemoryError."""
    if size == 0:
        return 0
    made = _core.DeviceAllocation(size)
    return _hold(int(made), made)


def mallocAsync(size, stream):
    return malloc(size)


def mallocManaged(size, flags=memAttachGlobal):
    """The address of size bytes that host and device both reach."""
    made = _core.HostMemory(_core.device(), "managed", size)
    return _hold(made.device_ptr, made)


def free(ptr):
    """Gives memory of malloc or mallocManaged back. CUDARuntimeError: it is none, or was given back before."""
    found = _drop(ptr, "cudaFree")
    if isinstance(found, _core.DeviceAllocation):
        found.free()


def freeAsync(ptr, stream):
    """As free: the memory is used again behind the work that was given to the device."""
    free(ptr)


def hostAlloc(size, flags=hostAllocDefault):
    """The address of size bytes of pinned host memory."""
    kind = "mapped" if flags & hostAllocMapped else "pinned"
    made = _core.HostMemory(_core.device(), kind, size, combined=bool(flags & hostAllocWriteCombined))
    return _hold(made.ptr, made)


def freeHost(ptr):
    found = _drop(ptr, "cudaFreeHost")
    if found is not None:
        found.release()


def hostRegister(ptr, size, flags=hostRegisterDefault):
    """Pins size bytes of the program's memory."""
    made = _core.HostMemory(_core.device(), "registered", _host(ptr, size))
    _hold(-ptr, made)


def hostUnregister(ptr):
    _drop(-ptr, "cudaHostUnregister").release()


def pointerGetAttributes(ptr):
    """PointerAttributes of an address: device (-1: the host's alone), devicePointer, hostPointer, type."""
    found = _core._device_of(ptr)
    if _core.device().host:
        return PointerAttributes(0, ptr, ptr, cudaMemoryTypeManaged)
    if found is not None:
        return PointerAttributes(found.index, ptr, 0, cudaMemoryTypeDevice)
    return PointerAttributes(-1, 0, ptr, cudaMemoryTypeUnregistered)


class PointerAttributes:
    """What pointerGetAttributes tells."""

    def __init__(self, device, devicePointer, hostPointer, type=cudaMemoryTypeUnregistered):
        self.device, self.devicePointer, self.hostPointer, self.type = device, devicePointer, hostPointer, type


# ---- copies ----


def _host(ptr, size):
    """Bytes of the host's memory by their address."""
    return (ctypes.c_ubyte * size).from_address(ptr)


def _stream(stream):
    """The Stream that a number or an object stands for."""
    return _core._stream_of(None, stream or 0)


def _copy(dst, src, size, kind, stream, wait):
    if size == 0:
        return
    if kind == memcpyDefault:
        host = _core.device().host
        kind = (2 if host or _core._device_of(src) is not None else 0) + (
            1 if host or _core._device_of(dst) is not None else 0
        )
    if kind == memcpyHostToHost:
        ctypes.memmove(dst, src, size)
    elif kind == memcpyHostToDevice or kind == memcpyDeviceToHost:
        out = kind == memcpyDeviceToHost
        _core._raw_copy_host(out, src if out else dst, _host(dst if out else src, size), stream, wait)
    elif kind == memcpyDeviceToDevice:
        _core._raw_copy(dst, src, size, stream, wait)
    else:
        raise ValueError(f"cudaMemcpy: there is no kind {kind}")


def memcpy(dst, src, size, kind):
    """Copies size bytes between addresses; kind: memcpyHostToDevice … memcpyDefault. Done on return."""
    _copy(dst, src, size, kind, None, True)


def memcpyAsync(dst, src, size, kind, stream):
    """memcpy on a stream; pinned host memory must stay alive until the copy is done."""
    _copy(dst, src, size, kind, _stream(stream), False)


def memcpyPeer(dst, dstDevice, src, srcDevice, size):
    _core._raw_peer(dst, src, size, number(dstDevice), number(srcDevice), None, True)


def memcpyPeerAsync(dst, dstDevice, src, srcDevice, size, stream):
    _core._raw_peer(dst, src, size, number(dstDevice), number(srcDevice), _stream(stream), False)


def memset(ptr, value, size):
    """size bytes from ptr on become value."""
    _fill(ptr, value, size, None, True)


def memsetAsync(ptr, value, size, stream):
    _fill(ptr, value, size, _stream(stream), False)


def _fill(ptr, value, size, stream, wait):
    if size:
        _core._raw_fill(ptr, size, 1, value & 255, size, 1, stream, wait)


_HOST_SIDE, _DEVICE_SIDE = 1, 2  # CUmemorytype


def _side(ptr, pitch, height, host):
    """One side of a block's copy."""
    return _HOST_SIDE if host else _DEVICE_SIDE, _host(ptr, pitch * height) if host else ptr, 0, 0, 0, pitch, 0


def _copy2(dst, dpitch, src, spitch, width, height, kind, stream, wait):
    if kind == memcpyDefault:
        raise ValueError("cudaMemcpy2D: memcpyDefault is not served here; name the kind")
    if width and height:
        to = _side(dst, dpitch, height, kind in (memcpyHostToHost, memcpyDeviceToHost))
        of = _side(src, spitch, height, kind in (memcpyHostToHost, memcpyHostToDevice))
        _core._raw_block(to, of, width, height, 1, stream, wait)


def memcpy2D(dst, dpitch, src, spitch, width, height, kind):
    """Copies height rows of width bytes, dpitch and spitch bytes from row to row."""
    _copy2(dst, dpitch, src, spitch, width, height, kind, None, True)


def memcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, stream):
    _copy2(dst, dpitch, src, spitch, width, height, kind, _stream(stream), False)


def memPrefetchAsync(devPtr, count, dstDevice, stream):
    """Does nothing: managed pages move when they are used."""


def memAdvise(devPtr, count, advice, device):
    """Does nothing: the driver decides."""


# ---- streams ----


def streamCreate():
    """A new stream's number (CUstream); 0 on the CPU."""
    return streamCreateWithPriority(streamDefault, 0)


def streamCreateWithFlags(flags):
    return streamCreateWithPriority(flags, 0)


def streamCreateWithPriority(flags, priority):
    made = _core.Stream(non_blocking=bool(flags & streamNonBlocking), priority=priority)
    return _hold(made.ptr, made) if made.ptr else 0


def streamDestroy(stream):
    _drop(stream, "cudaStreamDestroy")


def streamSynchronize(stream):
    _stream(stream).synchronize()


def streamQuery(stream):
    """0: all its work has passed; errorNotReady."""
    return 0 if _stream(stream).done else errorNotReady


def streamWaitEvent(stream, event, flags=0):
    _stream(stream).wait_event(_event(event))


def streamAddCallback(stream, callback, arg, flags=0):
    """callback(stream, status, arg) is called once the stream's work so far is done."""
    _stream(stream).add_callback(lambda s, status, given: callback(s.ptr, status, given), arg)


def launchHostFunc(stream, callback, arg):
    """callback(arg) is called once the stream's work so far is done; later work does not wait for it."""
    _stream(stream).launch_host_func(callback, arg)


def deviceGetStreamPriorityRange():
    """(least, greatest): numbers for streamCreateWithPriority; the lower the sooner."""
    return _core._stream_priorities()


# ---- events ----


def eventCreate():
    return eventCreateWithFlags(eventDefault)


def eventCreateWithFlags(flags):
    made = _core.Event(timing=not flags & eventDisableTiming, blocking=bool(flags & eventBlockingSync),
                       interprocess=bool(flags & eventInterprocess))  # fmt: skip
    return _hold(id(made), made)


def _event(event):
    found = _held.get(event)
    if not isinstance(found, _core.Event):
        raise CUDARuntimeError(f"{event:#x} is no event that was made here")
    return found


def eventDestroy(event):
    _drop(event, "cudaEventDestroy")


def eventRecord(event, stream):
    _event(event).record(_stream(stream))


def eventQuery(event):
    """0: it has passed; errorNotReady."""
    return 0 if _event(event).done else errorNotReady


def eventSynchronize(event):
    _event(event).synchronize()


def eventElapsedTime(start, end):
    """Milliseconds from one event to the other."""
    return _event(start).elapsed(_event(end))


def __getattr__(name):
    raise AttributeError(_names.refusal("cupy.cuda.runtime", name), name=name)


__dir__ = _dir_of(__name__)
