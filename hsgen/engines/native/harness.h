/* The interface through which hsgen drives a bundle's runtime: devices, buffers, sorts and their time as plain C
 * functions that Python calls.  Each API implements it in its harness, which is built together with the bundle, loaded in
 * a worker process, and never part of a bundle.  One thread, one open device, one sort at a time.
 *
 * Functions return null, or an error message that stays valid until the next call; it starts with "unavailable: " if
 * this machine lacks something. */
#ifndef HN_HARNESS_H
#define HN_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of devices of the API. */
const char *hn_count(int *count);

/* A device as a JSON object: {"name", "platform" (of the platform or driver), "driver" (its version), "type" ("cpu",
 * "gpu", "other"), "vendor" (number), "compute" (10 * major + minor, CUDA only, else 0), "work_group", "local_bytes",
 * "subgroups" (the sizes that a kernel can require), "shuffle", "ballot" (of subgroups), "int64" (bools)}, and those
 * members of `hsgen.engines.query` that the API reports; 0 if a device does not. */
const char *hn_describe(int index, char *text, size_t size);

/* Open a device.  `options` is "" or words such as "binding_limit=4096 validation=1"; unknown words are an error.  Every
 * harness has poison=1: scratch is filled before every sort. */
const char *hn_open(int index, const char *options);

/* Make the sort of this target, algorithm, key and value ready; the previous one is released. */
const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value);

/* The buffers: keys, their destination, values, their destination, device-side count, offsets of segments or the second
 * of two arrays, values of the second array, report or digest; of rows, keys to take and starts of values. */
enum {
    HN_KEYS = 0,
    HN_KEYS_OUT = 1,
    HN_VALUES = 2,
    HN_VALUES_OUT = 3,
    HN_COUNT = 4,
    HN_OTHER = 5,
    HN_OTHER_VALUES = 6,
    HN_REPORT = 7,
    HN_TAKES = 8,
    HN_VALUE_STARTS = 9,
    HN_SLOTS = 10
};

/* Allocate buffer `slot` again, with `bytes` bytes of undefined content. */
const char *hn_buffer(int slot, uint64_t bytes);
const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes);
const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes);

/* A call.  By hs_role, except scratch: the slot of the buffer, or -1, and the byte at which the role starts there.  A
 * destination at the place of its source is in place. */
enum { HN_ROLES = 11 };
typedef struct hn_call {
    uint64_t n;
    uint64_t shift, segment_count, first_count, capacity, reduction, columns, take, layouts; /* that of the operation, with
                                                                              `take` or `layouts`; the others are 0 */
    uint64_t offsets[HN_ROLES];
    int32_t slots[HN_ROLES];
    uint32_t type, descending, begin_bit, end_bit, discard_keys; /* hs_options */
} hn_call;

/* Whether two roles are at one place. */
static inline int hn_same(const hn_call *call, int a, int b)
{
    return call->slots[a] == call->slots[b] && call->offsets[a] == call->offsets[b];
}

/* Whether a role is passed to the sort: it is used, and not in place. */
static inline int hn_plays(const hn_call *call, int role)
{
    if (call->slots[role] < 0 || call->slots[role] >= HN_SLOTS) return 0;
    return !(role == 1 && hn_same(call, 1, 0)) && !(role == 4 && hn_same(call, 4, 3));
}

/* Run a call of the sort and wait.  `device_seconds` gets the time on the device, or -1 if it is not measured.  The
 * harness allocates exactly the scratch that the runtime requires and fills it with bytes of 0xff.  HN_GUARD bytes of
 * another pattern follow it; the next hn_read or hn_redone, which are not timed, reports if they were overwritten. */
const char *hn_sort(const hn_call *call, double *device_seconds);
enum { HN_GUARD = 4096, HN_GUARD_BYTE = 0x5a, HN_POISON_BYTE = 0xff };

/* The names of the runtime's functions in error messages, by hs_kind; `more` follows each name. */
#define HN_NAMES(api, more) /* HSGEN_FUNCTIONS */

/* Time the following sorts and copies on the device (1) or not (0), if timing has a cost; without one, they are always
 * timed, if the device has a clock. */
const char *hn_clock(int on);

/* The bytes of memory of the open device, and of its largest buffer; 0 if not reported. */
const char *hn_room(uint64_t *total, uint64_t *largest);

/* The number of passes that the last hn_sort redid; of segmented sorts, not 0 if offsets were refused. */
const char *hn_redone(uint32_t *redone);

/* Whether the guard, as read back, is intact. */
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

/* The messages of validation layers since hn_open, one per line; may be "". */
const char *hn_messages(void);

void hn_close(void);

#ifdef __cplusplus
}
#endif
#endif
