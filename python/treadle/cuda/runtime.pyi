# Written by tools/stubs/write.py from the package itself.
from treadle import Error as CUDARuntimeError
from treadle import _Int
from treadle.cuda import Device as Device
from treadle.cuda import profile_start as profile_start
from treadle.cuda import profile_start as profilerStart
from treadle.cuda import profile_stop as profile_stop
from treadle.cuda import profile_stop as profilerStop
from typing import Any

NUMBER: dict[Any, Any]
class PointerAttributes:
    def __init__(self, device: Any, devicePointer: Any, hostPointer: Any, type: Any = 0) -> None: ...
    device: Any
    devicePointer: Any
    hostPointer: Any
    type: Any
RUNTIME_NAMES: dict[Any, Any]
def check_status(status: Any) -> None: ...
cudaAddressModeBorder: int
cudaAddressModeClamp: int
cudaAddressModeMirror: int
cudaAddressModeWrap: int
cudaArrayCubemap: int
cudaArrayDefault: int
cudaArrayLayered: int
cudaArraySurfaceLoadStore: int
cudaArrayTextureGather: int
cudaChannelFormatKindFloat: int
cudaChannelFormatKindNone: int
cudaChannelFormatKindSigned: int
cudaChannelFormatKindUnsigned: int
cudaDevAttrAsyncEngineCount: int
cudaDevAttrCanMapHostMemory: int
cudaDevAttrCanUseHostPointerForRegisteredMem: int
cudaDevAttrClockRate: int
cudaDevAttrComputeCapabilityMajor: int
cudaDevAttrComputeCapabilityMinor: int
cudaDevAttrComputeMode: int
cudaDevAttrComputePreemptionSupported: int
cudaDevAttrConcurrentKernels: int
cudaDevAttrConcurrentManagedAccess: int
cudaDevAttrCooperativeLaunch: int
cudaDevAttrDirectManagedMemAccessFromHost: int
cudaDevAttrEccEnabled: int
cudaDevAttrGlobalL1CacheSupported: int
cudaDevAttrGlobalMemoryBusWidth: int
cudaDevAttrGpuOverlap: int
cudaDevAttrHostNativeAtomicSupported: int
cudaDevAttrIntegrated: int
cudaDevAttrIsMultiGpuBoard: int
cudaDevAttrKernelExecTimeout: int
cudaDevAttrL2CacheSize: int
cudaDevAttrLocalL1CacheSupported: int
cudaDevAttrManagedMemory: int
cudaDevAttrMaxBlockDimX: int
cudaDevAttrMaxBlockDimY: int
cudaDevAttrMaxBlockDimZ: int
cudaDevAttrMaxBlocksPerMultiprocessor: int
cudaDevAttrMaxGridDimX: int
cudaDevAttrMaxGridDimY: int
cudaDevAttrMaxGridDimZ: int
cudaDevAttrMaxPitch: int
cudaDevAttrMaxRegistersPerBlock: int
cudaDevAttrMaxRegistersPerMultiprocessor: int
cudaDevAttrMaxSharedMemoryPerBlock: int
cudaDevAttrMaxSharedMemoryPerBlockOptin: int
cudaDevAttrMaxSharedMemoryPerMultiprocessor: int
cudaDevAttrMaxThreadsPerBlock: int
cudaDevAttrMaxThreadsPerMultiProcessor: int
cudaDevAttrMemoryClockRate: int
cudaDevAttrMultiGpuBoardGroupID: int
cudaDevAttrMultiProcessorCount: int
cudaDevAttrPageableMemoryAccess: int
cudaDevAttrPageableMemoryAccessUsesHostPageTables: int
cudaDevAttrPciBusId: int
cudaDevAttrPciDeviceId: int
cudaDevAttrPciDomainId: int
cudaDevAttrReservedSharedMemoryPerBlock: int
cudaDevAttrSingleToDoublePrecisionPerfRatio: int
cudaDevAttrStreamPrioritiesSupported: int
cudaDevAttrSurfaceAlignment: int
cudaDevAttrTccDriver: int
cudaDevAttrTextureAlignment: int
cudaDevAttrTotalConstantMemory: int
cudaDevAttrUnifiedAddressing: int
cudaDevAttrVirtualMemoryManagementSupported: int
cudaDevAttrWarpSize: int
cudaFilterModeLinear: int
cudaFilterModePoint: int
cudaIpcMemLazyEnablePeerAccess: int
cudaLimitDevRuntimePendingLaunchCount: int
cudaLimitDevRuntimeSyncDepth: int
cudaLimitMallocHeapSize: int
cudaLimitMaxL2FetchGranularity: int
cudaLimitPrintfFifoSize: int
cudaLimitStackSize: int
cudaMemoryTypeDevice: int
cudaMemoryTypeHost: int
cudaMemoryTypeManaged: int
cudaMemoryTypeUnregistered: int
cudaReadModeElementType: int
cudaReadModeNormalizedFloat: int
cudaResourceTypeArray: int
cudaResourceTypeLinear: int
cudaResourceTypeMipmappedArray: int
cudaResourceTypePitch2D: int
def deviceCanAccessPeer(device: Any, peerDevice: Any) -> Any: ...
def deviceDisablePeerAccess(peerDevice: Any) -> None: ...
def deviceEnablePeerAccess(peerDevice: Any) -> None: ...
def deviceGetAttribute(attrib: Any, device: Any) -> Any: ...
def deviceGetByPCIBusId(pciBusId: Any) -> Any: ...
def deviceGetLimit(limit: Any) -> Any: ...
def deviceGetPCIBusId(device: Any) -> Any: ...
def deviceGetStreamPriorityRange() -> Any: ...
def deviceSetLimit(limit: Any, value: Any) -> None: ...
def deviceSynchronize() -> None: ...
def driverGetVersion() -> Any: ...
errorInvalidDevice: int
errorInvalidResourceHandle: int
errorInvalidValue: int
errorMemoryAllocation: int
errorNoDevice: int
errorNotReady: int
errorPeerAccessAlreadyEnabled: int
eventBlockingSync: int
def eventCreate() -> Any: ...
def eventCreateWithFlags(flags: Any) -> Any: ...
eventDefault: int
def eventDestroy(event: Any) -> None: ...
eventDisableTiming: int
def eventElapsedTime(start: Any, end: Any) -> Any: ...
eventInterprocess: int
def eventQuery(event: Any) -> Any: ...
def eventRecord(event: Any, stream: Any) -> None: ...
def eventSynchronize(event: Any) -> None: ...
def free(ptr: Any) -> None: ...
def freeAsync(ptr: Any, stream: Any) -> None: ...
def freeHost(ptr: Any) -> None: ...
def getDevice() -> Any: ...
def getDeviceCount() -> Any: ...
def getDeviceProperties(device: Any) -> Any: ...
def get_local_runtime_version() -> Any: ...
def hostAlloc(size: Any, flags: Any = 0) -> Any: ...
hostAllocDefault: int
hostAllocMapped: int
hostAllocPortable: int
hostAllocWriteCombined: int
def hostRegister(ptr: Any, size: Any, flags: Any = 0) -> None: ...
hostRegisterDefault: int
hostRegisterIoMemory: int
hostRegisterMapped: int
hostRegisterPortable: int
def hostUnregister(ptr: Any) -> None: ...
is_hip: bool
def launchHostFunc(stream: Any, callback: Any, arg: Any) -> None: ...
def malloc(size: Any) -> Any: ...
def mallocAsync(size: Any, stream: Any) -> Any: ...
def mallocManaged(size: Any, flags: Any = 1) -> Any: ...
def memAdvise(devPtr: Any, count: Any, advice: Any, device: Any) -> None: ...
memAttachGlobal: int
memAttachHost: int
memAttachSingle: int
def memGetInfo() -> Any: ...
def memPrefetchAsync(devPtr: Any, count: Any, dstDevice: Any, stream: Any) -> None: ...
def memcpy(dst: Any, src: Any, size: Any, kind: Any) -> None: ...
def memcpy2D(dst: Any, dpitch: Any, src: Any, spitch: Any, width: _Int, height: _Int, kind: Any) -> None: ...
def memcpy2DAsync(dst: Any, dpitch: Any, src: Any, spitch: Any, width: _Int, height: _Int, kind: Any, stream: Any) -> None: ...
def memcpyAsync(dst: Any, src: Any, size: Any, kind: Any, stream: Any) -> None: ...
memcpyDefault: int
memcpyDeviceToDevice: int
memcpyDeviceToHost: int
memcpyHostToDevice: int
memcpyHostToHost: int
def memcpyPeer(dst: Any, dstDevice: Any, src: Any, srcDevice: Any, size: Any) -> None: ...
def memcpyPeerAsync(dst: Any, dstDevice: Any, src: Any, srcDevice: Any, size: Any, stream: Any) -> None: ...
def memset(ptr: Any, value: Any, size: Any) -> None: ...
def memsetAsync(ptr: Any, value: Any, size: Any, stream: Any) -> None: ...
def number(device: Any) -> Any: ...
def pointerGetAttributes(ptr: Any) -> Any: ...
def runtimeGetVersion() -> Any: ...
def setDevice(device: Any) -> None: ...
def streamAddCallback(stream: Any, callback: Any, arg: Any, flags: Any = 0) -> None: ...
streamCaptureModeGlobal: int
streamCaptureModeRelaxed: int
streamCaptureModeThreadLocal: int
streamCaptureStatusActive: int
streamCaptureStatusInvalidated: int
streamCaptureStatusNone: int
def streamCreate() -> Any: ...
def streamCreateWithFlags(flags: Any) -> Any: ...
def streamCreateWithPriority(flags: Any, priority: Any) -> Any: ...
streamDefault: int
def streamDestroy(stream: Any) -> None: ...
streamLegacy: int
streamNonBlocking: int
streamPerThread: int
def streamQuery(stream: Any) -> Any: ...
def streamSynchronize(stream: Any) -> None: ...
def streamWaitEvent(stream: Any, event: Any, flags: Any = 0) -> None: ...
