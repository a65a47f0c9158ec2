/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The interpreter of launch plans: which steps a call runs, with which grid and argument, and where in each buffer
 * their bindings begin. The runtimes use the interpreter; a program that launches the kernels itself can use it,
 * too. */
#ifndef HS_PLAN_H
#define HS_PLAN_H

#include "hs/hs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of one item: a key, or a row of a scan's table. */
static inline uint64_t hs_item_bytes(const hs_sort *sort) { return (uint64_t)sort->columns * sort->key_bytes; }

/* 1 if a call reduces the values of equal keys, those of each run or of each group. */
static inline int hs_reduces(const hs_sort *sort) { return sort->kind == HS_REDUCE_BY_KEY || sort->kind == HS_GROUP_BY; }

/* The bytes of an element in the buffer of a role; the buffer must begin at a multiple of this number. */
uint32_t hs_element(const hs_sort *sort, hs_role role);

/* A buffer of a call: `room` bytes from byte `begin` of the memory that `where` identifies.  `where` is 0 if the call
 * has no such buffer.  hs_survey fills in the other members. */
typedef struct hs_span {
    uint64_t where, begin, room;
    uint64_t bytes; /* the number of bytes that the call accesses; 0: the role is not used */
    hs_role from;   /* the role whose buffer is used for this role: HS_SOURCE for the destination of a call in place,
                       HS_SCRATCH for discarded keys, otherwise the role itself */
} hs_span;

/* A call.  `n` is the number of items; with a device-side count, the capacity.  `number` depends on the operation:
 * segment_count, first_count, capacity, shift or hs_reduction_number, for example. */
typedef struct hs_call {
    uint64_t n, number;
    const hs_options *options; /* options that the sort takes; may be null except for hs_survey */
    int in_place, device_count;     /* 1 if the call is in place; 1 if it has a device-side count */
    int rows;                  /* 1: segments are rows of equal length, without offsets */
    uint64_t take;             /* selections: how many keys to select from each of `number` rows; packs: the layouts
                                  of columns; gathers: the bytes of an item, which hs_survey divides by the bytes of
                                  a value */
    int segments_counted;      /* 1: the number of segments is in device memory, and `number` is its upper bound */
} hs_call;

/* Whether a call for n items launches nothing: n is 0, and no step runs for n = 0. */
static inline int hs_idle(const hs_sort *sort, uint64_t n)
{
    uint32_t i;
    for (i = 0; n == 0 && i < sort->step_count; i++)
        if (sort->steps[i].guard.at_zero) return 0;
    return n == 0;
}

/* Check everything about a call that does not depend on the API. The caller sets n, number, take and options, which
 * must not be null, and where, begin and room of each span; the function fills in all other members. A destination
 * whose `where` is 0 means in place. Of an idle call (hs_idle), only the options and the number are checked. */
hs_status hs_survey(const hs_sort *sort, hs_call *call, hs_span spans[HS_ROLES]);

/* The number of work-groups that a step launches; 0 if its guard excludes the call.  With a device-side count, max_n of
 * the guard is ignored, because the count may be less than n.  Also 0 for steps of HS_INDIRECT_GRIDS, which compute the
 * grids of other steps on the device: hosts with indirect dispatch launch such a step separately. */
uint64_t hs_groups(const hs_step *step, const hs_call *call);

/* The number of passes for a range of `range` bits with digits of at most `bits` bits; an empty range takes one
 * pass. */
static inline uint32_t hs_passes(uint32_t range, uint32_t bits) { return range > bits ? (range + bits - 1) / bits : 1; }

/* The type of the keys of a call with these options, which may be null; HS_AS_MATCHED if the sort has only one type. */
hs_type hs_key_type(const hs_sort *sort, const hs_options *options);

/* The type of the values of a reduction that is called with `type`; the sort may be null. */
hs_type hs_value_type(const hs_sort *sort, hs_type type);

/* The flags that a call adds to the argument of each of its kernels. */
uint32_t hs_flags(const hs_sort *sort, const hs_call *call);

/* The argument of a step's kernel; returns 0 if the bit range or the reduction excludes the step. */
int hs_argument(const hs_sort *sort, const hs_step *step, const hs_call *call, int32_t *argument);

/* The lesser of n and INT32_MAX. */
static inline int32_t hs_bound(uint64_t n) { return n < INT32_MAX ? (int32_t)n : INT32_MAX; }

/* 1 if kernels get `number` and `take` of the call, as those of selections and gathers do. */
static inline int hs_takes_rows(const hs_sort *sort) { return sort->kind == HS_TOP_K || sort->kind == HS_GATHER; }

/* 1 if kernels get two numbers after n and the argument: see hs_numbers. */
static inline int hs_has_numbers(const hs_sort *sort)
{
    return sort->device_count || hs_takes_rows(sort) || sort->kind == HS_PACK;
}

/* The two numbers that kernels get after n and the argument.  Selections and gathers: `number` and `take`.  Packs: the
 * layouts of columns, 30 bits in each number.  Sorts with a device-side count: min_n and max_n of the step's guard. */
void hs_numbers(const hs_sort *sort, const hs_step *step, const hs_call *call, int32_t numbers[2]);

/* `number` of a call that reduces runs or groups. `number` encodes the reduction, the type of values, and whether
 * counts and first indices are stored. UINT64_MAX if values of this type have no such reduction. */
uint64_t hs_reduction_number(hs_reduction reduction, hs_type type, int counts, int firsts);

/* The role of column i of a pack. */
static inline hs_role hs_column_role(uint32_t i)
{
    return i == 0 ? HS_SOURCE : i == 1 ? HS_OTHER_INPUT : i == 2 ? HS_OTHER_VALUES : HS_VALUES;
}

/* `number` of a pack: 6 bits for each column; from bit 24 on, begin_bit / 32. The latter is the number of lowest 32-bit
 * words of a row that are left out. UINT64_MAX if the columns are invalid, have more than 16 bytes together, or have no
 * bit from begin_bit on. */
uint64_t hs_pack_number(const hs_column columns[HS_COLUMNS], uint64_t count, uint32_t begin_bit);

/* `take` of a pack, the layouts of its columns: for each column, 7 bits for its stride in words and 8 bits for its
 * offset.  UINT64_MAX if a stride is too large or a field is not within its record; UINT64_MAX - 1 if a stride or
 * offset is not aligned. */
uint64_t hs_pack_layouts(const hs_column columns[HS_COLUMNS], const hs_field fields[HS_COLUMNS], uint64_t count);

/* Check `number` and layouts of a pack of n rows.  HS_ERROR_COUNT if a kernel could not index all words. */
hs_status hs_pack_fits(uint64_t n, uint64_t number, uint64_t layouts);

/* The number of bytes that n rows take in the buffer of column i, which is read in whole words; 0 if there is no such
 * column. */
uint64_t hs_column_bytes(uint64_t n, uint64_t number, uint64_t layouts, uint32_t i);

/* A grid for `groups` work-groups with at most `limit` in each dimension; returns 0 if there is none.  The grid may
 * have more work-groups, which kernels ignore. */
int hs_grid(uint64_t groups, uint64_t limit, uint32_t grid[2]);

/* The byte at which a binding starts in its buffer. In scratch, it is a multiple of 1024, an alignment that suffices
 * for every known device (NVIDIA's OpenCL requires 512). The scratch size of a plan includes this padding. */
static inline uint64_t hs_offset(const hs_binding *binding, uint64_t n)
{
    const uint64_t bytes = binding->plus + binding->per_n * (binding->max_n && n > binding->max_n ? binding->max_n : n);
    return binding->role == HS_SCRATCH ? (bytes + 1023) / 1024 * 1024 : bytes;
}

#ifdef __cplusplus
}
#endif
#endif
