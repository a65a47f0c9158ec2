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
 * "subgroups" (list of widths that a kernel can ask for), "shuffle", "ballot" (of subgroups), "int64" (bools)}, and
 * whatever of the members of `hsgen.engines.query` the API tells; 0 where a device does not. */
const char *hn_describe(int index, char *text, size_t size);

/* Open a device.  `options` is "" or words such as "binding_limit=4096 validation=1"; unknown words are an error.  All
 * know poison=1: scratch is filled before every sort. */
const char *hn_open(int index, const char *options);

/* Make the sort, of whatever kind, of target, algorithm, key and value ready; the one before is released. */
const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value);

/* The buffers: keys, where they go if not sorted in place, values and where they go, a count on the device, offsets of
 * segments or the second of two arrays, the values of its keys, what is told besides. */
enum {
    HN_KEYS = 0,
    HN_KEYS_OUT = 1,
    HN_VALUES = 2,
    HN_VALUES_OUT = 3,
    HN_COUNT = 4,
    HN_OTHER = 5,
    HN_OTHER_VALUES = 6,
    HN_REPORT = 7,
    HN_SLOTS = 8
};

/* Allocate buffer `slot` anew, with `bytes` bytes of undefined content. */
const char *hn_buffer(int slot, uint64_t bytes);
const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes);
const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes);

/* All of a call.  Places are by hs_role, but for scratch: the slot of the buffer that plays the role, or -1, and the
 * bytes at which it begins there.  A destination at the place of its source is in place. */
enum { HN_ROLES = 9 };
typedef struct hn_call {
    uint64_t n, parts;
    uint64_t offsets[HN_ROLES];
    int32_t slots[HN_ROLES];
    uint32_t type, descending, begin_bit, end_bit, discard_keys; /* hs_options */
} hn_call;

/* Whether two roles are played at one place. */
static inline int hn_same(const hn_call *call, int a, int b)
{
    return call->slots[a] == call->slots[b] && call->offsets[a] == call->offsets[b];
}

/* Whether a role is to be handed to the sort: it is played, and not in place. */
static inline int hn_plays(const hn_call *call, int role)
{
    if (call->slots[role] < 0 || call->slots[role] >= HN_SLOTS) return 0;
    return !(role == 1 && hn_same(call, 1, 0)) && !(role == 4 && hn_same(call, 4, 3));
}

/* Sort n keys, or do what the sort's kind does, and wait.  `device_seconds` gets the time on the device, or -1 where it cannot be told.
 * Scratch, if the sort needs any, is allocated by the harness, exactly as much as the runtime asks for, and filled with
 * bytes of 0xff when it is.  HN_GUARD bytes of another pattern lie behind it; the next hn_read or hn_outcome, which
 * nobody times, says so if they were overwritten. */
const char *hn_sort(const hn_call *call, double *device_seconds);
enum { HN_GUARD = 4096, HN_GUARD_BYTE = 0x5a, HN_POISON_BYTE = 0xff };

/* What errors call the runtime's functions that do so, by hs_kind; `more` follows each name. */
#define HN_NAMES(api, more) \
    {"hs_" api "_sort" more, "hs_" api "_scan" more, "hs_" api "_segmented_sort" more, "hs_" api "_merge" more, \
     "hs_" api "_digest" more}

/* Have the device time the sorts and copies that follow (1), or not (0), where that costs anything: then only are their
 * `device_seconds` told.  Where it costs nothing they always are, if the device has a clock at all. */
const char *hn_clock(int on);

/* The bytes of memory that the open device has, and those of its largest buffer; 0 where it does not tell. */
const char *hn_room(uint64_t *total, uint64_t *largest);

/* How many passes the last hn_sort did again; of segments, not 0 if the device refused them. */
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
