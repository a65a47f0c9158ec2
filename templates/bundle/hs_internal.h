/* Declarations that the source files of the runtimes share; not part of the interface. */
#ifndef HS_INTERNAL_H
#define HS_INTERNAL_H

#include "hs/hs_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks a function that several files of a runtime call.  A shared library does not export it. */
#if defined(__ELF__) || defined(__APPLE__)
#define HS_INTERNAL __attribute__((visibility("hidden")))
#else
#define HS_INTERNAL
#endif

/* HS_CHECK defined as 1 adds checks for debugging, which query the driver or read the plan once more. */
#ifndef HS_CHECK
#define HS_CHECK 0
#endif

/* The buffers that the steps of a sort bind, one bit per role. Bit HS_ROLES is set if a step depends on the number of a
 * call. */
HS_INTERNAL uint32_t hs_uses(const hs_sort *sort);

/* As hs_explain, but adds a line in any case, also if the target suits the device and the sort does not run on it. */
HS_INTERNAL void hs_reason(const hs_target *target, hs_kind kind, const char *key, const char *value,
                           const hs_device *device, char *text, size_t room);

/* The buffers that a call writes, one bit per role. */
HS_INTERNAL uint32_t hs_written(const hs_sort *sort, int in_place);

/* HS_OK if the sort was generated for these options, which are not null; otherwise the error. */
HS_INTERNAL hs_status hs_takes(const hs_sort *sort, const hs_options *options);

/* Check a scope, which may be null, and replace its zeros by the numbers that they mean: the result is a completed
 * scope. HS_ERROR_OPTION if the scope has calls that the sort never takes. HS_ERROR_COUNT if its range of n is empty or
 * reaches beyond the range of the sort. */
HS_INTERNAL hs_status hs_scope_of(const hs_sort *sort, const hs_scope *given, hs_scope *scope);

/* 1 if calls of a completed scope can launch a kernel.  `indirect`: 1 if the API reads grids from device memory. */
HS_INTERNAL int hs_scope_has(const hs_sort *sort, const hs_scope *scope, uint32_t kernel, int indirect);

/* The greatest number of steps that one call of a completed scope runs. */
HS_INTERNAL uint32_t hs_scope_steps(const hs_sort *sort, const hs_scope *scope);

/* The most bytes of one buffer that calls of a completed scope access; UINT64_MAX if n does not bound them. */
HS_INTERNAL uint64_t hs_scope_bytes(const hs_sort *sort, const hs_scope *scope);

/* HS_OK if a checked call is within a completed scope, otherwise HS_ERROR_SCOPE. */
HS_INTERNAL hs_status hs_scope_takes(const hs_sort *sort, const hs_scope *scope, const hs_call *call);

/* The offset of discarded keys in scratch, if the sort itself needs `bytes` bytes of scratch. */
static inline uint64_t hs_discarded_at(uint64_t bytes) { return (bytes + 1023) / 1024 * 1024; }

/* For a call that passes the same buffer for `role` and `of`: drop `role`, and give `of` the smaller of both sizes. */
static inline void hs_share(hs_span *role, hs_span *of)
{
    if (role->where && role->room < of->room) of->room = role->room;
    role->where = 0;
}

/* 1 if a selection's rows may be anywhere in the buffer of `role`, because the call passes an array of their starts. */
static inline int hs_anywhere(const hs_sort *sort, const hs_span spans[HS_ROLES], hs_role role)
{
    const int rows = spans[HS_OTHER_VALUES].where != 0, values = rows || spans[HS_VALUE_STARTS].where;
    return sort->kind == HS_TOP_K && (role == HS_SOURCE ? rows : role == HS_VALUES && values);
}

/* Sets the accessed bytes of the source and of the values, if a selection's rows may be anywhere in these buffers: to
 * the whole buffer, or to one key or value if the size of the buffer is not known. */
static inline void hs_free_rows(const hs_sort *sort, hs_span spans[HS_ROLES])
{
    static const hs_role roles[2] = {HS_SOURCE, HS_VALUES};
    uint32_t i;
    for (i = 0; i < 2; i++) {
        hs_span *span = &spans[roles[i]];
        const uint64_t item = roles[i] == HS_SOURCE ? hs_item_bytes(sort) : sort->value_bytes;
        if (span->where && hs_anywhere(sort, spans, roles[i]))
            span->bytes = span->room > UINT64_MAX - span->begin ? item : span->room;
    }
}

/* 1 if scratch begins at a multiple of 256 bytes, or a checked call uses none.  No API requires a larger alignment of a
 * buffer. */
static inline int hs_scratch_aligned(const hs_span spans[HS_ROLES])
{
    const int used = spans[HS_SCRATCH].bytes || spans[HS_DESTINATION].from == HS_SCRATCH;
    return !used || spans[HS_SCRATCH].begin % 256 == 0;
}

/* Compute the grid of a step and the argument of its kernel.  Returns 1; 0 if the step does not run; -1 if its grid
 * exceeds `columns` by `rows` work-groups. */
HS_INTERNAL int hs_launch(const hs_sort *sort, const hs_step *step, const hs_call *call, uint64_t columns,
                            uint64_t rows, uint32_t grid[2], int32_t *argument);

/* For HS_CHECK: an error unless every binding of every launch begins within its buffer, at an aligned byte. */
HS_INTERNAL hs_status hs_parts_fit(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES]);

/* 1 if the grids of all steps are within these limits of the device. A runtime checks this first, so that it enqueues
 * all steps or none. */
HS_INTERNAL int hs_launches_fit(const hs_sort *sort, const hs_call *call, uint64_t columns, uint64_t rows);

/* Two concurrent calls of one sorter would set arguments of the same kernels, or change the same cache.  A flag that is
 * 1 during a call detects them, if the compiler has atomic exchanges.  HS_CHECK_THREADS defined as 0 omits the flag. */
#if defined(HS_CHECK_THREADS) && !HS_CHECK_THREADS && !HS_CHECK
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#elif defined(__ATOMIC_ACQUIRE)
#define HS_ENTER(flag) (__atomic_exchange_n(flag, 1L, __ATOMIC_ACQUIRE) == 0)
#define HS_LEAVE(flag) __atomic_store_n(flag, 0L, __ATOMIC_RELEASE)
#elif defined(_MSC_VER)
#include <intrin.h>
#define HS_ENTER(flag) (_InterlockedExchange(flag, 1L) == 0)
#define HS_LEAVE(flag) ((void)_InterlockedExchange(flag, 0L))
#else
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#endif

#ifdef __cplusplus
}
#endif
#endif
