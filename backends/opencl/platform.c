/* SPDX-License-Identifier: BSD-3-Clause */
/** @file platform.c
 *  The list of this machine's OpenCL devices and their properties. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define LEAST_ARGUMENT_BYTES 1024    /* promised by OpenCL */
#define NO_PLATFORM_FOUND    (-1001) /* the loader's error where no driver is installed */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int made;
    int count;
    ocl_about *devices; /* GPUs first, then accelerators, then CPUs */
    int no_memory;      /* to make it, so that it lacks some */
    char reason[256];   /* why there are none */
} list;

static void device_text(cl_device_id device, cl_device_info what, char *text, size_t room)
{
    if (clGetDeviceInfo(device, what, room, text, NULL) != CL_SUCCESS) text[0] = '\0';
    text[room - 1] = '\0';
}

static int version_at_least_1_2(cl_device_id device)
{
    char text[256];
    int major = 0, minor = 0;
    device_text(device, CL_DEVICE_VERSION, text, sizeof text);
    if (sscanf(text, "OpenCL %d.%d", &major, &minor) != 2) return 0;
    return major > 1 || (major == 1 && minor >= 2);
}

static const char *why_not(cl_device_id device)
{
    cl_bool available = CL_FALSE, compiler = CL_FALSE, little = CL_FALSE;
    clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    clGetDeviceInfo(device, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little, NULL);
    if (!available) return "is not available";
    if (!compiler) return "has no compiler for kernels";
    if (!little) return "is not little-endian";
    if (!version_at_least_1_2(device)) return "is older than OpenCL 1.2";
    return NULL;
}

static int double_wanted(void)
{
    const char *value = ocl_host->variable("META_TEST_OPENCL_DOUBLE");
    return !value || strcmp(value, "off") != 0;
}

/* -1: the host has no memory for the list of them. */
static int has_extension(cl_device_id device, const char *name)
{
    size_t bytes = 0;
    const size_t length = strlen(name);
    int found = 0;
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
    char *all = calloc(1, bytes + 1);
    if (!all) return -1;
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, all, NULL);
    for (const char *at = all; !found && (at = strstr(at, name)); at += length)
        found = (at == all || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
    free(all);
    return found;
}

static int atomic_64_wanted(void)
{
    const char *value = ocl_host->variable("META_TEST_OPENCL_ATOMICS");
    return !value || strcmp(value, "32") != 0;
}

/* @return 0 where the host has no memory for it */
static int describe_arithmetic(cl_device_id device, ocl_about *about)
{
    const int atomic_64 = has_extension(device, "cl_khr_int64_base_atomics");
    cl_device_fp_config single = 0, twice = 0;
    clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL);
    clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof twice, &twice, NULL);
    about->exact_f32 = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    about->keeps_f32 = (single & CL_FP_DENORM) != 0;
    about->has_f64 = twice != 0 && double_wanted();
    about->atomic_64 = atomic_64 > 0 && atomic_64_wanted();
    return atomic_64 >= 0;
}

int ocl_describe(cl_platform_id platform, cl_device_id device, ocl_about *about, char *reason,
                 size_t room)
{
    char maker[48] = "", version[64];
    const char *fault = why_not(device);
    memset(about, 0, sizeof *about);
    about->platform = platform;
    about->device = device;
    device_text(device, CL_DEVICE_NAME, about->name, sizeof about->name);
    if (fault) {
        snprintf(reason, room, "OpenCL device %s %s", about->name, fault);
        return 0;
    }
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker, maker, NULL) != CL_SUCCESS)
        snprintf(maker, sizeof maker, "OpenCL");
    device_text(device, CL_DRIVER_VERSION, version, sizeof version);
    snprintf(about->driver, sizeof about->driver, "%s %s", maker, version);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof about->type, &about->type, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof about->units, &about->units, NULL);
    clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof about->memory, &about->memory, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof about->largest, &about->largest,
                    NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof about->group, &about->group,
                    NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof about->sides, about->sides, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof about->argument_bytes,
                    &about->argument_bytes, NULL);
    if (about->argument_bytes < LEAST_ARGUMENT_BYTES) about->argument_bytes = LEAST_ARGUMENT_BYTES;
    if (!describe_arithmetic(device, about)) {
        snprintf(reason, room, "the host has no memory to describe OpenCL device %s", about->name);
        return -1;
    }
    about->is_cpu = (about->type & CL_DEVICE_TYPE_CPU) && !(about->type & CL_DEVICE_TYPE_GPU);
    return 1;
}

static int rank_of(const ocl_about *about)
{
    if (about->type & CL_DEVICE_TYPE_GPU) return 0;
    return about->type & CL_DEVICE_TYPE_ACCELERATOR ? 1 : 2;
}

/* Insert behind all devices of the same rank, in the platforms' order. */
static void insert(const ocl_about *about)
{
    int at = list.count;
    while (at > 0 && rank_of(&list.devices[at - 1]) > rank_of(about)) {
        list.devices[at] = list.devices[at - 1];
        --at;
    }
    list.devices[at] = *about;
    ++list.count;
}

static void add_platform(cl_platform_id platform)
{
    char version[256];
    cl_uint count = 0;
    cl_device_id *ids;
    ocl_about *more;
    if (clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL) ==
        CL_SUCCESS)
        ocl_adapt_pocl(version);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count) != CL_SUCCESS || !count)
        return;
    ids = calloc(count, sizeof *ids);
    more = realloc(list.devices, ((size_t)list.count + count) * sizeof *more);
    if (more) list.devices = more;
    if (ids && more &&
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL) == CL_SUCCESS) {
        for (cl_uint k = 0; k < count; ++k) {
            ocl_about about;
            const int known =
                ocl_describe(platform, ids[k], &about, list.reason, sizeof list.reason);
            if (known > 0) insert(&about);
            if (known < 0) list.no_memory = 1;
        }
    }
    if (!ids || !more) list.no_memory = 1;
    free(ids);
}

static void make_list(void)
{
    cl_platform_id *platforms = NULL;
    cl_uint count = 0;
    cl_int status;
    ocl_prepare_pocl();
    snprintf(list.reason, sizeof list.reason, "no OpenCL platform has a device");
    status = clGetPlatformIDs(0, NULL, &count);
    if (status == NO_PLATFORM_FOUND || (status == CL_SUCCESS && count == 0)) {
        snprintf(list.reason, sizeof list.reason,
                 "no OpenCL platform found; install a driver such as pocl-opencl-icd");
        return;
    }
    if (status == CL_SUCCESS) {
        platforms = calloc(count, sizeof *platforms);
        list.no_memory = !platforms;
        status = platforms ? clGetPlatformIDs(count, platforms, NULL) : CL_OUT_OF_HOST_MEMORY;
    }
    if (status != CL_SUCCESS)
        snprintf(list.reason, sizeof list.reason, "clGetPlatformIDs: %s (%d)",
                 ocl_error_name(status), (int)status);
    else
        for (cl_uint k = 0; k < count; ++k) add_platform(platforms[k]);
    free(platforms);
}

/* Without memory there is none, and it is made again when it is next asked for. */
static void list_once(void)
{
    if (list.made) return;
    list.no_memory = 0;
    make_list();
    list.made = 1;
    if (!list.no_memory) return;
    free(list.devices);
    memset(&list, 0, sizeof list);
    list.no_memory = 1;
    snprintf(list.reason, sizeof list.reason, "the host is out of memory");
}

int ocl_device_count(char *reason, size_t room)
{
    int count;
    pthread_mutex_lock(&list_lock);
    list_once();
    count = list.no_memory ? -1 : list.count;
    if (room > 0) snprintf(reason, room, "%s", count > 0 ? "" : list.reason);
    pthread_mutex_unlock(&list_lock);
    return count;
}

meta_err ocl_device_find(int index, ocl_about *about)
{
    int count;
    pthread_mutex_lock(&list_lock);
    list_once();
    count = list.count;
    if (list.no_memory) {
        pthread_mutex_unlock(&list_lock);
        return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory for OpenCL's devices");
    }
    if (index >= 0 && index < count) *about = list.devices[index];
    pthread_mutex_unlock(&list_lock);
    if (index < 0 || index >= count)
        return ocl_host->fail(META_ERR_NO_DEVICE, "there is no OpenCL device %d, only %d of them",
                              index, count);
    return META_OK;
}

/* Of cl_khr_pci_bus_info, which older headers do not have. */
#define DEVICE_PCI_BUS_INFO 0x410F
typedef struct pci_bus_info {
    cl_uint domain, bus, device, function;
} pci_bus_info;

static void describe_place(cl_device_id device, char *text, size_t room)
{
    pci_bus_info at;
    if (clGetDeviceInfo(device, DEVICE_PCI_BUS_INFO, sizeof at, &at, NULL) == CL_SUCCESS)
        snprintf(text, room, "%04x:%02x:%02x.%x", at.domain & 0xffff, at.bus & 0xff,
                 at.device & 0xff, at.function & 0xf);
}

meta_err ocl_device_info(int index, meta_device_desc *desc)
{
    ocl_about about;
    META_TRY(ocl_device_find(index, &about));
    desc->index = index;
    snprintf(desc->name, sizeof desc->name, "%s", about.name);
    snprintf(desc->driver, sizeof desc->driver, "%s", about.driver);
    desc->memory = about.memory;
    desc->compute_units = (int)about.units;
    desc->has_f64 = about.has_f64;
    desc->is_host = 0;
    desc->is_gpu = (about.type & CL_DEVICE_TYPE_GPU) != 0;
    describe_place(about.device, desc->pci, sizeof desc->pci);
    return META_OK;
}

void ocl_platform_forget(void)
{
    pthread_mutex_lock(&list_lock);
    free(list.devices);
    memset(&list, 0, sizeof list);
    pthread_mutex_unlock(&list_lock);
}
