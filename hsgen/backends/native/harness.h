/* What hsgen's own process needs of a bundle's runtime: devices, buffers, a sort and its time, behind plain C functions
 * that Python calls.  One file per API implements it; it is built together with the bundle, loaded in a worker process,
 * and never part of a bundle.  One thread, one open device, one sort at a time.
 *
 * Functions return null, or a text of what went wrong that stays valid until the next call; it begins with
 * "unavailable: " where this machine lacks something. */
#ifndef HN_HARNESS_H
#define HN_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many devices the API shows. */
const char *hn_count(int *count);

/* A device as a JSON object: {"name", "platform" (of the platform or driver), "driver" (its version), "type" ("cpu",
 * "gpu", "other"), "vendor" (number), "compute" (10 * major + minor, CUDA only, else 0), "work_group", "local_bytes",
 * "subgroups" (list of widths that a kernel can ask for), "shuffle", "ballot" (of subgroups), "int64" (bools)}. */
const char *hn_describe(int index, char *text, size_t size);

/* Open a device.  `options` is "" or words such as "binding_limit=4096 validation=1"; unknown words are an error.  All
 * know poison=1: scratch is filled before every sort. */
const char *hn_open(int index, const char *options);

/* Make the sort or scan of target, algorithm and key ready; the one before is released. */
const char *hn_sorter(const char *target, const char *algorithm, const char *key);

/* Allocate buffer `slot` (0 or 1) anew, with `bytes` bytes of undefined content. */
const char *hn_buffer(int slot, uint64_t bytes);
const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes);
const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes);

/* Sort n keys, or scan n rows, that begin `source` bytes into buffer 0, in place (to_slot 0) or to `destination` bytes
 * into buffer 1 (to_slot 1), and wait.  `device_seconds` gets the time on the device, or -1 where it cannot be told.
 * Scratch, if the sort needs any, is allocated by the harness, exactly as much as the runtime asks for, and filled with
 * bytes of 0xff when it is.  HN_GUARD bytes of another pattern lie behind it; the next hn_read or hn_outcome, which
 * nobody times, says so if they were overwritten. */
const char *hn_sort(uint64_t n, uint64_t source, int to_slot, uint64_t destination, double *device_seconds);
enum { HN_GUARD = 4096, HN_GUARD_BYTE = 0x5a, HN_POISON_BYTE = 0xff };

/* How many passes the last hn_sort did again. */
const char *hn_outcome(uint32_t *redone);

/* Whether the guard, as it was read back, is whole. */
static inline int hn_whole(const unsigned char *guard)
{
    int i;
    for (i = 0; i < HN_GUARD; i++)
        if (guard[i] != HN_GUARD_BYTE) return 0;
    return 1;
}
#define HN_OVERWRITTEN "the sort wrote beyond its scratch memory"

/* Copy the first `bytes` bytes of buffer 0 to buffer 1 on the device, and wait. */
const char *hn_copy(uint64_t bytes, double *device_seconds);

/* What validation layers said since hn_open, line by line; "" where nothing was said or none is there. */
const char *hn_messages(void);

void hn_close(void);

#ifdef __cplusplus
}
#endif
#endif
