/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Buffers: a cl_mem, and addresses reserved for it. */
#include "config.h"

#include <sys/mman.h>

#include "opencl.h"

/* A library before 2.4 does not give any. */
static bool host_has_addresses(void)
{
    return ocl_host->size >=
               offsetof(meta_host, addresses_give) + sizeof ocl_host->addresses_give &&
           ocl_host->addresses_take && ocl_host->addresses_give;
}

static meta_err take_addresses(size_t bytes, void **address)
{
    if (host_has_addresses()) return ocl_host->addresses_take(bytes, address);
    *address = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*address != MAP_FAILED) return META_OK;
    return ocl_host->fail(META_ERR_NO_MEMORY,
                          "the process has no room for %zu more bytes of addresses", bytes);
}

static void give_addresses(void *address, size_t bytes)
{
    if (host_has_addresses()) ocl_host->addresses_give(address, bytes);
    else munmap(address, bytes);
}

meta_err ocl_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    const ocl_about *about = &device->about;
    cl_int status = CL_SUCCESS;
    void *address = NULL;
    cl_mem object;
    if (bytes > about->largest || bytes > about->memory)
        return ocl_host->fail(
            META_ERR_NO_MEMORY,
            "%zu bytes asked for, but a buffer of OpenCL device %s has at most "
            "%llu bytes; ask for several smaller ones",
            bytes, about->name,
            (unsigned long long)(about->largest < about->memory ? about->largest : about->memory));
    META_TRY(take_addresses(bytes, &address));
    object = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (status != CL_SUCCESS) {
        give_addresses(address, bytes);
        return ocl_host->fail(META_ERR_NO_MEMORY,
                              "clCreateBuffer of %zu bytes on device %s: %s (%d); free buffers or "
                              "ask for less",
                              bytes, about->name, ocl_error_name(status), (int)status);
    }
    *memory = (meta_memory){.address = address, .object = object, .bytes = bytes};
    return META_OK;
}

static meta_err check_object(const meta_plugin_device *device, cl_mem object, size_t bytes)
{
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    size_t room = 0;
    OCL_TRY(clGetMemObjectInfo(object, CL_MEM_TYPE, sizeof type, &type, NULL),
            "clGetMemObjectInfo(native)");
    OCL_TRY(clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof room, &room, NULL),
            "clGetMemObjectInfo(native)");
    OCL_TRY(clGetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof context, &context, NULL),
            "clGetMemObjectInfo(native)");
    if (type != CL_MEM_OBJECT_BUFFER)
        return ocl_host->fail(META_ERR_ARGUMENT,
                              "argument 'native' is an image or a pipe, not a buffer");
    if (context != device->context)
        return ocl_host->fail(
            META_ERR_WRONG_DEVICE,
            "argument 'native' belongs to another cl_context than the device's; create it "
            "in the one meta_get_state() gives, or give yours to "
            "meta_set_state()");
    if (bytes > room)
        return ocl_host->fail(META_ERR_BOUNDS, "bytes is %zu, but native has only %zu", bytes,
                              room);
    return META_OK;
}

meta_err ocl_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                  meta_memory *memory)
{
    void *address = NULL;
    cl_int status;
    if (kind == META_NATIVE_HOST)
        return ocl_host->fail(
            META_ERR_POINTER,
            "argument 'native' is a host array, but the buffers of an OpenCL device are "
            "cl_mem objects; wrap one of those with META_NATIVE_OBJECT, or "
            "copy the array with meta_copy_h2d()");
    if (!native)
        return ocl_host->fail(META_ERR_ARGUMENT, "argument 'native' is NULL, not a cl_mem");
    META_TRY(check_object(device, native, bytes));
    META_TRY(take_addresses(bytes, &address));
    status = clRetainMemObject(native);
    if (status != CL_SUCCESS) {
        give_addresses(address, bytes);
        return ocl_fail(status, "clRetainMemObject(native)");
    }
    *memory = (meta_memory){.address = address, .object = native, .bytes = bytes};
    return META_OK;
}

void ocl_release(meta_plugin_device *device, const meta_memory *memory)
{
    const cl_int status = clReleaseMemObject(memory->object);
    if (status != CL_SUCCESS)
        ocl_host->log(META_LOG_WARN, "OpenCL device %s: clReleaseMemObject: %s (%d)",
                      device->about.name, ocl_error_name(status), (int)status);
    give_addresses(memory->address, memory->bytes);
}
