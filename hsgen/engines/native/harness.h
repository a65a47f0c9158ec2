/* The interface through which hsgen drives the runtime of a bundle.  The interface consists of plain C functions for
 * devices, buffers, sorts and their times; Python calls the functions.  The harness of each API implements them.  A
 * harness is built together with a bundle and loaded in a worker process, but is never part of a bundle.  Only one
 * thread may call the functions.  At any time, one device is open and one sort is ready.
 *
 * A function returns null, or an error message that stays valid until the next call.  The message starts with
 * "unavailable: " if this machine lacks something. */
#ifndef HN_HARNESS_H
#define HN_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set `count` to the number of devices that the API lists. */
const char *hn_count(int *count);

/* Describe a device as a JSON object in `text`, which has `size` bytes.  The members are:
 * - "name", "platform" (the name of the platform or driver), "driver" (its version);
 * - "type": "cpu", "gpu" or "other"; "vendor": a number;
 * - "compute": 10 * major + minor for CUDA, else 0;
 * - "work_group", "local_bytes", "subgroups" (the sizes that a kernel can require);
 * - "shuffle", "ballot" (both of subgroups), "int64": bools.
 * Further members are those properties in `hsgen.engines.query` that the API reports; 0 if the device does not. */
const char *hn_describe(int index, char *text, size_t size);

/* Open a device.  `options` is "" or a list such as "binding_limit=4096 validation=1"; an unknown option is an error.
 * With poison=1, which every harness has, scratch is filled with HN_POISON_BYTE before every sort. */
const char *hn_open(int index, const char *options);

/* Make the sort of this target, algorithm, key and value ready to run, and release the previous sort. */
const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value);

/* The buffers.  HN_KEYS_OUT and HN_VALUES_OUT are the destinations.  HN_COUNT is the device-side count.  HN_OTHER has
 * the offsets of segments or the second of two arrays; HN_OTHER_VALUES has the values of the second array.  HN_REPORT
 * is the report or digest.  For each row of a selection, HN_TAKES has the number of keys to take, and HN_VALUE_STARTS
 * has the index of its first value. */
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

/* Replace buffer `slot` by a new buffer with `bytes` bytes, whose content is undefined. */
const char *hn_buffer(int slot, uint64_t bytes);
const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes);
const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes);

/* The arguments of a call.  For each hs_role except scratch, `slots` has the number of the buffer, or -1 if the call
 * has no such array.  `offsets` has the byte at which the array starts in the buffer.  In a call in place, source and
 * destination have the same slot and offset.  Of the numbers from `shift` to `columns`, at most the one that the
 * operation uses is set.  Some operations also set `take` or `layouts`.  All other numbers are 0. */
enum { HN_ROLES = 11 };
typedef struct hn_call {
    uint64_t n;
    uint64_t shift, segment_count, first_count, capacity, reduction, columns, take, layouts; /* see above */
    uint64_t offsets[HN_ROLES];
    int32_t slots[HN_ROLES];
    uint32_t type, descending, begin_bit, end_bit, discard_keys; /* hs_options */
} hn_call;

/* Whether two roles have the same slot and offset. */
static inline int hn_same(const hn_call *call, int a, int b)
{
    return call->slots[a] == call->slots[b] && call->offsets[a] == call->offsets[b];
}

/* Whether the harness passes a buffer for a role to the sort: not for a role without a buffer, nor for a destination
 * that is the same memory as its source. */
static inline int hn_plays(const hn_call *call, int role)
{
    if (call->slots[role] < 0 || call->slots[role] >= HN_SLOTS) return 0;
    return !(role == 1 && hn_same(call, 1, 0)) && !(role == 4 && hn_same(call, 4, 3));
}

/* Run a call of the sort and wait.  `device_seconds` gets the time on the device in seconds, or -1 if it is not
 * measured.  The harness allocates exactly the scratch that the runtime requires, and fills new scratch with
 * HN_POISON_BYTE.  After scratch, HN_GUARD bytes have the value HN_GUARD_BYTE.  If the sort changes these guard bytes,
 * the next hn_read or hn_redone returns an error; the check is not part of the measured time. */
const char *hn_sort(const hn_call *call, double *device_seconds);
enum { HN_GUARD = 4096, HN_GUARD_BYTE = 0x5a, HN_POISON_BYTE = 0xff };

/* The names of the runtime's functions for error messages, in the order of hs_kind, each with the suffix `more`. */
#define HN_NAMES(api, more) /* HSGEN_FUNCTIONS */

/* Turn the device's clock on (1) or off (0) for later sorts and copies.  A harness whose clock does not slow them down
 * ignores the call, and always measures their times if the device has a clock. */
const char *hn_clock(int on);

/* The size in bytes of the open device's memory, and of the largest buffer that it allows; 0 if not reported. */
const char *hn_room(uint64_t *total, uint64_t *largest);

/* The number of passes of the last hn_sort that needed a retry.  For a segmented sort, any number but 0 means that the
 * device rejected the offsets of segments. */
const char *hn_redone(uint32_t *redone);

/* Whether the HN_GUARD guard bytes that were read back from the device are unchanged. */
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

/* Return the messages of validation layers since hn_open, one per line; "" if there are none. */
const char *hn_messages(void);

void hn_close(void);

#ifdef __cplusplus
}
#endif
#endif
