//! OpenCL 3.0: the calls of the host, roughly in the order of the specification, and what Score-P calls its waiting inside of them.
//!
//! Kernels are user code and no rows. Reading and writing a buffer may block or not, as an argument says that a name does not tell;
//! they are taken as not blocking, so that nothing is concluded from it. A call without a row counts as management, where the
//! producer says that it is an OpenCL call.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static OPENCL: Paradigm = Paradigm {
    name: "OpenCL",
    aliases: &["ocl"],
    class: Class::Accelerator,
    otf2: Some(19),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    let vendor = name.strip_suffix("KHR").or_else(|| name.strip_suffix("EXT"));
    EXACT.get(vendor.unwrap_or(name))
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| {
        let rest = name.strip_prefix("cl")?;
        if rest.starts_with(|c: char| c.is_ascii_uppercase()) { EXACT.get(OTHER) } else { None }
    })
}

/// The row of calls that have none.
const OTHER: &str = "other OpenCL call";

static CONSTRUCTS: &[Construct] = constructs! {
    // Platforms, devices, contexts
    "clGetPlatformIDs" => Inquiry;
    "clGetPlatformInfo" => Inquiry;
    "clGetDeviceIDs" => Inquiry;
    "clGetDeviceInfo" => Inquiry;
    "clGetDeviceAndHostTimer" => Inquiry;
    "clGetHostTimer" => Inquiry;
    "clGetExtensionFunctionAddress" => Inquiry;
    "clGetExtensionFunctionAddressForPlatform" => Inquiry;
    "clGetGLContextInfo" => Inquiry;
    "clCreateSubDevices" => Management;
    "clRetainDevice" => Management;
    "clReleaseDevice" => Management;
    "clSetDefaultDeviceCommandQueue" => Management;
    "clSetContextDestructorCallback" => Management;
    "clUnloadCompiler" => Management;
    "clUnloadPlatformCompiler" => Management;
    "clGetContextInfo" => Inquiry;
    "clCreateContext" => Management;
    "clCreateContextFromType" => Management;
    "clRetainContext" => Management;
    "clReleaseContext" => Management;
    // Command queues
    "clCreateCommandQueue" => Management;
    "clCreateCommandQueueWithProperties" => Management;
    "clRetainCommandQueue" => Management;
    "clReleaseCommandQueue" => Management;
    "clGetCommandQueueInfo" => Inquiry;
    "clSetCommandQueueProperty" => Management;
    "clFlush" => Management, NonBlocking;
    "clFinish" => DeviceWait;
    "WAIT FOR COMMAND QUEUE" => DeviceWait;
    // Memory
    "clCreateBuffer" => Management;
    "clCreateSubBuffer" => Management;
    "clCreateImage" => Management;
    "clCreateBufferWithProperties" => Management;
    "clCreateImage2D" => Management;
    "clCreateImage3D" => Management;
    "clCreateImageWithProperties" => Management;
    "clCreateFromGLBuffer" => Management;
    "clCreateFromGLRenderbuffer" => Management;
    "clCreateFromGLTexture" => Management;
    "clCreateFromGLTexture2D" => Management;
    "clCreateFromGLTexture3D" => Management;
    "clCreateFromEGLImage" => Management;
    "clCreateSampler" => Management;
    "clCreateSamplerWithProperties" => Management;
    "clRetainSampler" => Management;
    "clReleaseSampler" => Management;
    "clSetMemObjectDestructorCallback" => Management;
    "clEnqueueSVMFree" => Management;
    "clGetImageInfo" => Inquiry;
    "clGetPipeInfo" => Inquiry;
    "clGetSamplerInfo" => Inquiry;
    "clGetSupportedImageFormats" => Inquiry;
    "clGetGLObjectInfo" => Inquiry;
    "clGetGLTextureInfo" => Inquiry;
    "clCreatePipe" => Management;
    "clSVMAlloc" => Management;
    "clSVMFree" => Management;
    "clRetainMemObject" => Management;
    "clReleaseMemObject" => Management;
    "clGetMemObjectInfo" => Inquiry;
    // Copies
    "clEnqueueReadBuffer" => Get, NonBlocking;
    "clEnqueueReadBufferRect" => Get, NonBlocking;
    "clEnqueueReadImage" => Get, NonBlocking;
    "clEnqueueMapBuffer" => Get, NonBlocking;
    "clEnqueueMapImage" => Get, NonBlocking;
    "clEnqueueSVMMap" => Get, NonBlocking;
    "clEnqueueWriteBuffer" => Put, NonBlocking;
    "clEnqueueWriteBufferRect" => Put, NonBlocking;
    "clEnqueueWriteImage" => Put, NonBlocking;
    "clEnqueueFillBuffer" => Put, NonBlocking;
    "clEnqueueFillImage" => Put, NonBlocking;
    "clEnqueueCopyBuffer" => Put, NonBlocking;
    "clEnqueueCopyBufferRect" => Put, NonBlocking;
    "clEnqueueCopyImage" => Put, NonBlocking;
    "clEnqueueCopyImageToBuffer" => Put, NonBlocking;
    "clEnqueueCopyBufferToImage" => Put, NonBlocking;
    "clEnqueueUnmapMemObject" => Put, NonBlocking;
    "clEnqueueMigrateMemObjects" => Put, NonBlocking;
    "clEnqueueSVMUnmap" => Put, NonBlocking;
    "clEnqueueSVMMemcpy" => Put, NonBlocking;
    "clEnqueueSVMMemFill" => Put, NonBlocking;
    "clEnqueueSVMMigrateMem" => Put, NonBlocking;
    // Programs and kernels
    "clCreateProgramWithSource" => Management;
    "clCreateProgramWithBinary" => Management;
    "clCreateProgramWithIL" => Management;
    "clBuildProgram" => Management;
    "clCompileProgram" => Management;
    "clLinkProgram" => Management;
    "clReleaseProgram" => Management;
    "clRetainProgram" => Management;
    "clCreateProgramWithBuiltInKernels" => Management;
    "clSetProgramReleaseCallback" => Management;
    "clSetProgramSpecializationConstant" => Management;
    "clGetProgramInfo" => Inquiry;
    "clGetProgramBuildInfo" => Inquiry;
    "clCreateKernel" => Management;
    "clCreateKernelsInProgram" => Management;
    "clReleaseKernel" => Management;
    "clRetainKernel" => Management;
    "clCloneKernel" => Management;
    "clSetKernelExecInfo" => Management;
    "clGetKernelArgInfo" => Inquiry;
    "clGetKernelSubGroupInfo" => Inquiry;
    "clSetKernelArg" => Management;
    "clSetKernelArgSVMPointer" => Management;
    "clGetKernelInfo" => Inquiry;
    "clGetKernelWorkGroupInfo" => Inquiry;
    "clEnqueueNDRangeKernel" => TaskCreate, NonBlocking;
    "clEnqueueTask" => TaskCreate, NonBlocking;
    "clEnqueueNativeKernel" => TaskCreate, NonBlocking;
    // Events
    "clWaitForEvents" => DeviceWait;
    "clGetEventInfo" => DeviceWait, NonBlocking;
    "clGetEventProfilingInfo" => Inquiry;
    "clCreateUserEvent" => Management;
    "clSetUserEventStatus" => Management;
    "clSetEventCallback" => Management;
    "clRetainEvent" => Management;
    "clReleaseEvent" => Management;
    "clCreateEventFromEGLSync" => Management;
    "clCreateEventFromGLsync" => Management;
    "clEnqueueMarker" => TaskCreate, NonBlocking;
    "clEnqueueMarkerWithWaitList" => TaskCreate, NonBlocking;
    "clEnqueueBarrier" => TaskCreate, NonBlocking;
    "clEnqueueBarrierWithWaitList" => TaskCreate, NonBlocking;
    "clEnqueueWaitForEvents" => TaskCreate, NonBlocking;
    "clEnqueueAcquireGLObjects" => TaskCreate, NonBlocking;
    "clEnqueueReleaseGLObjects" => TaskCreate, NonBlocking;
    "clEnqueueAcquireEGLObjects" => TaskCreate, NonBlocking;
    "clEnqueueReleaseEGLObjects" => TaskCreate, NonBlocking;
    // Anything else
    "other OpenCL call" => Management;
};
