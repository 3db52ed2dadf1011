/* SPDX-License-Identifier: BSD-3-Clause */
/** @file table.h
 *  The functions in the plug-in's table, declared for plugin.c, which is C. */
#ifndef META_GPU_TABLE_H
#define META_GPU_TABLE_H

#include "meta_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The core's services; set by init, before any other function is called. */
extern const meta_host *gpu_host;

/* device.cpp */
int gpu_device_count(char *reason, size_t room);
meta_err gpu_device_info(int index, meta_device_desc *desc);
meta_err gpu_open(int index, const meta_state *state, meta_plugin_device **device);
void gpu_close(meta_plugin_device *device);
meta_err gpu_state(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state);

/* memory.cpp */
meta_err gpu_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory);
void gpu_free(meta_plugin_device *device, const meta_memory *memory);
meta_err gpu_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                  meta_memory *memory);
void gpu_unwrap(meta_plugin_device *device, const meta_memory *memory);
meta_err gpu_host_memory(meta_plugin_device *device, size_t bytes, void **ptr);
void gpu_host_memory_free(meta_plugin_device *device, void *ptr, size_t bytes);

/* queue.cpp */
meta_err gpu_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue);
void gpu_queue_destroy(meta_plugin_queue *queue);
meta_err gpu_queue_finish(meta_plugin_queue *queue);
meta_err gpu_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier);
meta_err gpu_queue_wait(meta_plugin_queue *queue, meta_ticket ticket);
meta_err gpu_copy(meta_plugin_queue *queue, const meta_copy *copy);
int gpu_copy_peer(meta_plugin_device *device, meta_plugin_device *peer);
meta_err gpu_ticket_test(meta_ticket ticket, int *complete);
meta_err gpu_ticket_wait(meta_ticket ticket);
void gpu_ticket_release(meta_ticket ticket);
int gpu_stamp_read(void *work, uint64_t *begin, uint64_t *end);
void gpu_stamp_release(void *work);

/* launch.cpp */
meta_err gpu_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel);
void gpu_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel);
meta_err gpu_launch(meta_plugin_queue *queue, const meta_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
