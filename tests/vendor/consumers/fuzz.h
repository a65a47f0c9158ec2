/* Common parts of the runtimes' fuzzers: random calls, mostly right with some members wrong, whether a call is right by
 * docs/reference/c-api.md, and the launches of a right one.  C99 that is also C++.
 *
 * A file for an API defines FUZZ_..., includes this, and defines fuzz_reshape, fuzz_create, fuzz_perform, fuzz_release
 * and fuzz_nulls.  The program takes a seed and seconds; without seconds it makes a fixed number of calls. */
#ifndef FUZZ_H
#define FUZZ_H

#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* FUZZ_SCRATCH: the alignment of scratch in bytes.  FUZZ_SAME_HANDLE: a call is in place if both buffers are the same
 * object, not if they start at the same address.  FUZZ_LEAST_ROOM: of two buffers in place the smaller size counts.
 * FUZZ_WHOLE: a size that extends past the end of all addresses counts as none.  FUZZ_WIDE: whether kernels for 64-bit
 * counts exist.  FUZZ_GRIDS: whether device-side counts use indirect grids.  FUZZ_LIMITED: the device may refuse more.
 * */
enum { FUZZ_MEMORIES = 12, FUZZ_LAUNCHES = 512, FUZZ_CALLS = 24000 };

/* A part of a memory; memory 0: none.  `unknown`: its size is not given. */
typedef struct fuzz_part {
    uint32_t memory;
    int unknown;
    uint64_t offset, room;
} fuzz_part;

enum { FUZZ_NO_SORTER = 1, FUZZ_NO_QUEUE = 2, FUZZ_NO_ARGS = 4, FUZZ_NO_ERROR = 8 };

typedef struct fuzz_case {
    const hs_sort *sort;
    hs_kind entry;
    uint64_t n, parts;
    hs_options options;
    fuzz_part at[HS_ROLES];
    uint32_t nulls;
    uint64_t columns, rows; /* the greatest grid */
} fuzz_case;

/* The arguments of a launch. */
typedef struct fuzz_launch {
    uint32_t kernel, lanes, grid[2], bindings;
    uint64_t n;
    int32_t argument, low, high;
    int indirect;
    struct {
        uint32_t memory;
        uint64_t begin, end; /* end: of the kernel's view; 0: not given */
    } bound[HS_BINDINGS];
} fuzz_launch;

static fuzz_launch fuzz_seen[FUZZ_LAUNCHES];
static uint32_t fuzz_count; /* of launches */
static uint64_t fuzz_state, fuzz_seed;
static unsigned long fuzz_calls, fuzz_right, fuzz_failed;
static int fuzz_wrong;
static const char *fuzz_status = "";

/* Defined by the API's file.  fuzz_reshape: adapt a case to the API.  fuzz_perform: record launches in fuzz_seen; with
 * `fail` not 0 the runtime's call of that number fails, and `*fuzz_injected` says whether one did. */
static void fuzz_reshape(fuzz_case *c);
static int fuzz_create(const hs_sort *sort);
static hs_status fuzz_perform(const fuzz_case *c, unsigned fail);
static void fuzz_release(void);
static void fuzz_nulls(void);
static int fuzz_injected;

static uint64_t fuzz_random(void)
{
    uint64_t z = fuzz_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static uint64_t fuzz_below(uint64_t n) { return fuzz_random() % n; }
static int fuzz_one_in(uint64_t n) { return fuzz_below(n) == 0; }

static void fuzz_expect(int holds, const fuzz_case *c, const char *what)
{
    uint32_t i;
    if (holds || fuzz_wrong++ > 5) return;
    fprintf(stderr, "seed %llu, call %lu: %s (status: %s)\n", (unsigned long long)fuzz_seed, fuzz_calls, what,
            fuzz_status);
    if (!c) return;
    fprintf(stderr, "  %s %s %s, entry %d, n %llu, parts %llu, type %x descending %u bits %u-%u discard %u, nulls %u\n",
            c->sort->algorithm, c->sort->key, c->sort->value, (int)c->entry, (unsigned long long)c->n,
            (unsigned long long)c->parts, (unsigned)c->options.type, (unsigned)c->options.descending,
            (unsigned)c->options.begin_bit, (unsigned)c->options.end_bit, (unsigned)c->options.discard_keys,
            (unsigned)c->nulls);
    for (i = 0; i < HS_ROLES; i++)
        if (c->at[i].memory)
            fprintf(stderr, "  role %u: memory %u from %llu, %llu bytes%s\n", (unsigned)i, (unsigned)c->at[i].memory,
                    (unsigned long long)c->at[i].offset, (unsigned long long)c->at[i].room,
                    c->at[i].unknown ? ", of unknown size" : "");
}

/* The roles that the steps of a sort bind, and whether one takes the parts (bit HS_ROLES). */
static uint32_t fuzz_uses(const hs_sort *sort)
{
    uint32_t i, k, found = 0;
    for (i = 0; i < sort->step_count; i++) {
        for (k = 0; k < sort->kernels[sort->steps[i].kernel].bindings; k++) found |= 1u << sort->steps[i].bindings[k].role;
        if (sort->steps[i].grid.x == HS_BY_NUMBER || sort->steps[i].argument.kind == HS_CALL_NUMBER) found |= 1u << HS_ROLES;
    }
    return found;
}

/* Whether the API takes two parts for one buffer. */
static int fuzz_same(const fuzz_part *a, const fuzz_part *b)
{
    if (a->memory != b->memory || a->offset != b->offset) return 0;
    return !FUZZ_SAME_HANDLE || a->room == b->room;
}

/* The effect of a call: how it is executed, and the memory touched of each role.  `played`: the buffer of each role. */
typedef struct fuzz_play {
    hs_call call;
    uint64_t bytes[HS_ROLES], scratch, plain;
    int given[HS_ROLES];
    fuzz_part played[HS_ROLES];
} fuzz_play;

static uint64_t fuzz_scratch(const hs_sort *sort, uint64_t n)
{
    uint64_t most = 0;
    uint32_t i;
    for (i = 0; i < sort->scratch_rule_count; i++) {
        const hs_scratch_rule *r = sort->scratch + i;
        const uint64_t m = n > r->max_n ? r->max_n : n;
        uint64_t units, bytes;
        if (n <= r->min_n) continue;
        units = (m - 1) / r->unit + 1;
        bytes = r->plus + r->per_n * m + r->per_unit * (units < r->units ? units : r->units);
        if (bytes > most) most = bytes;
    }
    return most;
}

static int fuzz_takes(const fuzz_case *c)
{
    const hs_sort *s = c->sort;
    const hs_options *o = &c->options;
    const uint32_t end = o->end_bit ? o->end_bit : s->key_bits, type = o->type == HS_UNSIGNED ? 0 : (uint32_t)o->type;
    static const uint32_t types[] = {0, 0x10, 0x11, 0x20, 0x21, 0x22, 0x40, 0x41, 0x42, 0x80, 0x81, 0x82};
    uint32_t i, known = 0;
    for (i = 0; i < sizeof types / sizeof types[0]; i++) known |= type == types[i];
    if (!known || (type && type / 16 * 8 != s->key_bits)) return 0;
    if (o->begin_bit > end || end > s->key_bits) return 0;
    if (((type & 15) || o->descending) && !s->key_transform) return 0;
    if ((o->begin_bit != 0 || end != s->key_bits) && !s->bit_range) return 0;
    return !o->discard_keys || s->index;
}

static int fuzz_overlap(const fuzz_part *a, uint64_t a_bytes, const fuzz_part *b, uint64_t b_bytes)
{
    if (!a_bytes || !b_bytes || a->memory != b->memory) return 0;
    return a->offset < b->offset ? b->offset - a->offset < a_bytes : a->offset - b->offset < b_bytes;
}

/* Whether a call with n > 0 has the buffers of its kind. */
static int fuzz_buffers(const fuzz_case *c, const fuzz_play *p)
{
    const hs_sort *s = c->sort;
    const int valued = s->value_bytes && !s->index, *given = p->given;
    const uint32_t uses = fuzz_uses(s);
    uint32_t i;
    for (i = HS_OTHER_INPUT; i < HS_ROLES; i++)
        if (given[i] && !(uses >> i & 1)) return 0;
    if ((uses >> HS_REPORT & 1) && !given[HS_REPORT]) return 0;
    if (p->bytes[HS_SOURCE] && !given[HS_SOURCE]) return 0;
    if (s->kind == HS_MERGE || s->kind == HS_DIGEST) {
        if (c->options.discard_keys) return 0;
        if (!valued && (given[HS_VALUES] || given[HS_OTHER_VALUES])) return 0;
        if (p->bytes[HS_VALUES] && valued && !given[HS_VALUES]) return 0;
        if (s->kind == HS_DIGEST) return !given[HS_DESTINATION] && !given[HS_VALUES_OUT];
        if (p->bytes[HS_OTHER_VALUES] && !given[HS_OTHER_VALUES]) return 0;
        if (p->bytes[HS_OTHER_INPUT] && !given[HS_OTHER_INPUT]) return 0;
        return given[HS_DESTINATION] && given[HS_VALUES_OUT] == valued;
    }
    if (c->n == 0) return 1;
    if (c->options.discard_keys && given[HS_DESTINATION]) return 0;
    if (given[HS_VALUES] != valued) return 0;
    if (!valued) return given[HS_VALUES_OUT] == (s->index != 0);
    return given[HS_VALUES_OUT] == given[HS_DESTINATION];
}

/* The known capacity of a part in bytes, up to the end of all addresses. */
static uint64_t fuzz_holds(const fuzz_part *part)
{
    const uint64_t left = UINT64_MAX - part->offset;
    if (part->unknown || part->room > left || (FUZZ_WHOLE && part->room == UINT64_MAX)) return FUZZ_WHOLE ? 0 : left;
    return part->room;
}

/* Whether all buffers are large enough, aligned and disjoint. */
static int fuzz_room(const fuzz_case *c, const fuzz_play *p)
{
    const hs_sort *s = c->sort;
    const int in_place = p->call.in_place;
    uint32_t i, k, written = 1u << HS_DESTINATION | 1u << HS_SCRATCH | 1u << HS_VALUES_OUT | 1u << HS_REPORT;
    if (in_place) written |= 1u << HS_SOURCE | 1u << HS_VALUES;
    if (p->scratch && (!c->at[HS_SCRATCH].memory || c->at[HS_SCRATCH].offset % FUZZ_SCRATCH)) return 0;
    for (i = 0; i < HS_ROLES; i++) {
        const uint64_t bytes = i == HS_SCRATCH ? p->scratch : p->given[i] ? p->bytes[i] : 0;
        const fuzz_part *out = i == HS_SOURCE || i == HS_VALUES ? &c->at[i + 1] : &c->at[i]; /* where it goes */
        if (!bytes) continue;
        if (bytes > fuzz_holds(&c->at[i])) return 0;
        if (FUZZ_LEAST_ROOM && fuzz_same(out, &c->at[i]) && bytes > fuzz_holds(out)) return 0;
        if (c->at[i].offset % hs_element(s, (hs_role)i)) return 0;
        for (k = 0; k < i; k++) {
            const uint64_t others = k == HS_SCRATCH ? p->scratch : p->given[k] ? p->bytes[k] : 0;
            if (((written >> i | written >> k) & 1) && fuzz_overlap(&c->at[i], bytes, &c->at[k], others)) return 0;
        }
    }
    return 1;
}

static void fuzz_touched(const fuzz_case *c, fuzz_play *p)
{
    const hs_sort *s = c->sort;
    const uint64_t key = hs_item_bytes(s), n = c->n, parts = p->call.number;
    const uint64_t first = s->kind == HS_MERGE || s->kind == HS_DIGEST ? parts : n;
    p->bytes[HS_SOURCE] = key * first;
    p->bytes[HS_DESTINATION] = key * n;
    p->bytes[HS_VALUES] = (uint64_t)s->value_bytes * first;
    p->bytes[HS_VALUES_OUT] = (uint64_t)s->value_bytes * n;
    p->bytes[HS_COUNT] = 4;
    p->bytes[HS_OTHER_INPUT] = s->kind == HS_MERGE ? key * (n - parts) : 4 * (parts + 1);
    p->bytes[HS_OTHER_VALUES] = s->kind == HS_MERGE ? (uint64_t)s->value_bytes * (n - parts) : 0;
    p->bytes[HS_REPORT] = 4 * (s->report_words + s->report_words_per_key * n);
}

/* The memory of each role: in place, in scratch, or none (memory 0). */
static void fuzz_place(const fuzz_case *c, fuzz_play *p)
{
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) {
        p->played[i] = c->at[i];
        if (!p->given[i] || (!p->bytes[i] && i != HS_SCRATCH)) p->played[i].memory = 0;
    }
    if (p->call.in_place) {
        p->played[HS_DESTINATION] = p->played[HS_SOURCE];
        if (p->played[HS_VALUES].memory) p->played[HS_VALUES_OUT] = p->played[HS_VALUES];
    } else if (c->options.discard_keys) {
        p->played[HS_DESTINATION] = c->at[HS_SCRATCH];
        p->played[HS_DESTINATION].offset += (p->plain + 1023) / 1024 * 1024;
    }
}

/* Whether a call is right; if so, `play` gets its effect. */
static int fuzz_legal(const fuzz_case *c, fuzz_play *p)
{
    const hs_sort *s = c->sort;
    const uint64_t n = c->n;
    uint32_t i, grid[2];
    int32_t argument;
    memset(p, 0, sizeof *p);
    if (c->nulls & ~(uint32_t)FUZZ_NO_ERROR) return 0;
    if (c->entry != s->kind || n > s->max_n || !fuzz_takes(c)) return 0;
    for (i = 0; i < HS_ROLES; i++) p->given[i] = c->at[i].memory != 0;
    if (fuzz_same(&c->at[HS_DESTINATION], &c->at[HS_SOURCE])) p->given[HS_DESTINATION] = 0;
    if (fuzz_same(&c->at[HS_VALUES_OUT], &c->at[HS_VALUES])) p->given[HS_VALUES_OUT] = 0;
    p->call.n = n;
    p->call.number = s->kind == HS_DIGEST && c->parts < n ? n : c->parts;
    p->call.options = &c->options;
    p->call.device_count = p->given[HS_COUNT];
    p->call.rows = s->kind == HS_SEGMENTED_SORT && !p->given[HS_OTHER_INPUT];
    p->call.in_place = !p->given[HS_DESTINATION] && !c->options.discard_keys && s->kind <= HS_SEGMENTED_SORT;
    if (p->call.device_count && (!s->device_count || n >= 1u << 30)) return 0;
    if (s->index && s->value_bytes == 4 && n > (uint64_t)1 << 32) return 0;
    if (p->call.number > INT32_MAX) return 0;
    if (s->kind == HS_DIGEST && p->call.number > s->max_n) return 0;
    if (s->kind == HS_MERGE && c->parts > n) return 0;
    if (p->call.rows && n && (!c->parts || n % c->parts)) return 0;
    if (s->kind <= HS_SCAN && c->parts && !(fuzz_uses(s) >> HS_ROLES & 1)) return 0;
    if (s->kind <= HS_SCAN && c->parts && c->parts >= s->key_bits) return 0;
    for (i = 0; !FUZZ_WIDE && i < s->step_count; i++)
        if (s->kernels[s->steps[i].kernel].index64 && hs_groups(&s->steps[i], &p->call)) return 0;
    if (hs_idle(s, n)) return 1;
    fuzz_touched(c, p);
    p->plain = p->scratch = fuzz_scratch(s, n);
    if (c->options.discard_keys && n) p->scratch = (p->plain + 1023) / 1024 * 1024 + n * hs_item_bytes(s);
    if (!fuzz_buffers(c, p) || !fuzz_room(c, p)) return 0;
    fuzz_place(c, p);
    for (i = 0; i < s->step_count; i++) {
        const uint64_t groups = hs_groups(&s->steps[i], &p->call);
        if (!groups || !hs_argument(s, &s->steps[i], &p->call, &argument)) continue;
        if (!hs_grid(groups, s->max_groups < c->columns ? s->max_groups : c->columns, grid) || grid[1] > c->rows) return 0;
    }
    return 1;
}

/* Compare a launch with its step. */
static void fuzz_compare(const fuzz_case *c, const fuzz_play *p, const hs_step *step, const fuzz_launch *l,
                         const uint32_t grid[2], int32_t argument)
{
    const hs_kernel *kernel = &c->sort->kernels[step->kernel];
    uint32_t k, i;
    fuzz_expect(l->kernel == step->kernel && l->lanes == kernel->work_group, c, "another kernel");
    fuzz_expect(l->indirect || (l->grid[0] == grid[0] && l->grid[1] == grid[1]), c, "another grid");
    fuzz_expect(l->n == c->n && l->argument == argument && l->bindings == kernel->bindings, c, "other numbers");
    for (k = 0; k < l->bindings && k < kernel->bindings; k++) {
        const fuzz_part *part = &p->played[step->bindings[k].role];
        const uint64_t at = hs_offset(&step->bindings[k], c->n);
        const uint64_t slack = part->memory ? 0 : 15; /* an unused buffer need not be aligned */
        int within = 0;
        if (part->memory) {
            fuzz_expect(l->bound[k].memory == part->memory && l->bound[k].begin == part->offset + at, c,
                        "a buffer is bound elsewhere");
        }
        for (i = 0; i < HS_ROLES; i++) {
            const uint64_t holds = fuzz_holds(&c->at[i]), from = c->at[i].offset, begin = l->bound[k].begin;
            within |= c->at[i].memory == l->bound[k].memory &&
                      (begin < from ? from - begin <= slack : begin - from < holds) && (!l->bound[k].end || l->bound[k].end - from <= holds);
        }
        fuzz_expect(within, c, "what is bound lies in no buffer of the call");
    }
}

/* The launches of a right call. */
static void fuzz_launches(const fuzz_case *c, const fuzz_play *p)
{
    const hs_sort *s = c->sort;
    const uint64_t most = s->max_groups < c->columns ? s->max_groups : c->columns;
    uint32_t i, done = 0, grid[2] = {0, 0};
    int32_t argument = 0;
    for (i = 0; i < s->step_count && !hs_idle(s, c->n); i++) {
        const hs_step *step = &s->steps[i];
        uint64_t groups = hs_groups(step, &p->call);
        if (FUZZ_GRIDS && step->argument.kind == HS_INDIRECT_GRIDS) {
            groups = p->call.device_count ? (s->step_count + 63) / 64 : 0;
            argument = most < 1u << 30 ? (int32_t)most : 1 << 30;
        } else if (!hs_argument(s, step, &p->call, &argument)) {
            continue;
        }
        if (!groups || !hs_grid(groups, most, grid)) continue;
        if (done < fuzz_count) fuzz_compare(c, p, step, &fuzz_seen[done], grid, argument);
        done++;
    }
    fuzz_expect(done == fuzz_count, c, "more launches or fewer than the plan has");
}

static uint64_t fuzz_any(void)
{
    static const uint64_t ends[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 63, 64, 65, 255, 256, 1u << 30, (1u << 30) - 1,
                                    INT32_MAX, 1u << 31, UINT32_MAX, (uint64_t)1 << 32, (uint64_t)1 << 33,
                                    (uint64_t)1 << 40, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX};
    const uint64_t one = ends[fuzz_below(sizeof ends / sizeof ends[0])];
    return fuzz_one_in(4) ? fuzz_random() >> fuzz_below(64) : fuzz_one_in(4) ? one + fuzz_below(5) - 2 : one;
}

/* A count: random, or one at which the plan changes. */
static uint64_t fuzz_n(const hs_sort *s)
{
    const uint64_t step = s->steps[fuzz_below(s->step_count)].guard.min_n + fuzz_below(3) - 1;
    const uint64_t all[] = {fuzz_below(5), fuzz_below(5000), fuzz_below(s->max_n + 1), s->max_n, step, fuzz_below(100000)};
    const uint64_t n = all[fuzz_below(sizeof all / sizeof all[0])];
    return n > s->max_n ? 0 : n;
}

static void fuzz_give(fuzz_case *c, hs_role role, uint64_t bytes)
{
    fuzz_part *part = &c->at[role];
    const uint32_t element = role == HS_SCRATCH ? 256 : hs_element(c->sort, role);
    part->memory = 1 + (uint32_t)role;
    part->offset = element * fuzz_below(9);
    part->room = bytes + (fuzz_one_in(2) ? 0 : element * fuzz_below(9));
    if (!part->room) part->room = element;
}

/* A right call. */
static fuzz_case fuzz_good(const hs_sort *s)
{
    const uint32_t uses = fuzz_uses(s);
    const int valued = s->value_bytes && !s->index;
    int in_place = fuzz_one_in(2);
    fuzz_case c;
    fuzz_play p;
    memset(&c, 0, sizeof c);
    memset(&p, 0, sizeof p);
    c.sort = s;
    c.entry = s->kind;
    c.n = fuzz_n(s);
    c.columns = fuzz_one_in(3) ? UINT32_MAX : 65535;
    c.rows = 65535;
    if (s->kind == HS_MERGE) c.parts = fuzz_below(c.n + 1);
    if (s->kind == HS_DIGEST) c.parts = fuzz_one_in(2) ? 0 : fuzz_below(s->max_n + 1);
    if (s->kind == HS_SEGMENTED_SORT) c.parts = fuzz_one_in(4) ? 0 : fuzz_below(fuzz_one_in(2) ? 10 : 1000000);
    if (s->kind == HS_SORT && (uses >> HS_ROLES & 1)) c.parts = fuzz_below(s->key_bits);
    if (s->key_transform && fuzz_one_in(2)) c.options.type = (hs_type)(s->key_bits / 8 << 4 | fuzz_below(s->key_bits > 8 ? 3 : 2));
    if (s->key_transform) c.options.descending = (uint32_t)fuzz_below(2);
    if (s->bit_range && fuzz_one_in(2)) {
        c.options.end_bit = 1 + (uint32_t)fuzz_below(s->key_bits);
        c.options.begin_bit = (uint32_t)fuzz_below(c.options.end_bit + 1);
    }
    if (s->index && s->kind == HS_SORT && fuzz_one_in(4)) c.options.discard_keys = 1;
    if (s->device_count && c.n < 1u << 30 && fuzz_one_in(3)) fuzz_give(&c, HS_COUNT, 4);
    if (c.options.discard_keys || s->kind == HS_DIGEST) in_place = 1;
    if (s->kind == HS_MERGE) in_place = 0;
    p.call.number = s->kind == HS_DIGEST && c.parts < c.n ? c.n : c.parts;
    fuzz_touched(&c, &p);
    if (p.bytes[HS_SOURCE] || fuzz_one_in(2)) fuzz_give(&c, HS_SOURCE, p.bytes[HS_SOURCE]);
    if (!in_place) fuzz_give(&c, HS_DESTINATION, p.bytes[HS_DESTINATION]);
    if (valued) fuzz_give(&c, HS_VALUES, p.bytes[HS_VALUES]);
    if (s->kind != HS_DIGEST && (s->index || (valued && !in_place))) fuzz_give(&c, HS_VALUES_OUT, p.bytes[HS_VALUES_OUT]);
    if (s->kind == HS_MERGE || (s->kind == HS_SEGMENTED_SORT && !fuzz_one_in(4)))
        fuzz_give(&c, HS_OTHER_INPUT, p.bytes[HS_OTHER_INPUT]);
    if (s->kind == HS_SEGMENTED_SORT && !c.at[HS_OTHER_INPUT].memory && c.n) c.parts = c.n % 7 ? 1 : 7;
    if (s->kind == HS_MERGE && valued) fuzz_give(&c, HS_OTHER_VALUES, p.bytes[HS_OTHER_VALUES]);
    if (uses >> HS_REPORT & 1) fuzz_give(&c, HS_REPORT, p.bytes[HS_REPORT]);
    p.plain = p.scratch = fuzz_scratch(s, c.n);
    if (c.options.discard_keys) p.scratch = (p.plain + 1023) / 1024 * 1024 + c.n * hs_item_bytes(s);
    if (p.scratch || fuzz_one_in(3)) fuzz_give(&c, HS_SCRATCH, p.scratch);
    return c;
}

/* Change one member. */
static void fuzz_mutate(fuzz_case *c)
{
    fuzz_part *part = &c->at[fuzz_below(HS_ROLES)], *other = &c->at[fuzz_below(HS_ROLES)];
    switch (fuzz_below(21)) {
    case 0: c->n = fuzz_any(); break;
    case 1: c->parts = fuzz_one_in(2) ? c->n + fuzz_below(3) - 1 : fuzz_any(); break;
    case 2: c->options.type = fuzz_one_in(8) ? HS_UNSIGNED : (hs_type)(fuzz_random() & 255); break;
    case 3: c->options.descending = (uint32_t)fuzz_any(); break;
    case 4: c->options.begin_bit = (uint32_t)fuzz_any(); break;
    case 5: c->options.end_bit = (uint32_t)fuzz_any(); break;
    case 6: c->options.discard_keys = (uint32_t)fuzz_any(); break;
    case 7: part->memory = 0; break;
    case 8: part->memory = 1 + (uint32_t)fuzz_below(FUZZ_MEMORIES - 1); break;
    case 9: *part = *other; break;
    case 10: part->memory = other->memory; break;
    case 11: part->offset += fuzz_below(9); break;
    case 12: part->offset = fuzz_any(); break;
    case 13: part->room -= fuzz_below(part->room < 9 ? part->room + 1 : 9); break;
    case 14: part->room = fuzz_any(); break;
    case 15: part->memory = other->memory, part->offset = other->offset + other->room - fuzz_below(9); break;
    case 16: part->memory = 1 + (uint32_t)(part - c->at); break;
    case 17: c->nulls |= 1u << fuzz_below(4); break;
    case 19: part->offset = 0, part->room = UINT64_MAX - fuzz_below(2); break;
    case 18: c->entry = (hs_kind)fuzz_below(5); break;
    default: c->columns = fuzz_one_in(2) ? 1 + fuzz_below(64) : 65535; break;
    }
}

/* Drop values that the entry point's arguments cannot hold. */
static void fuzz_members(fuzz_case *c)
{
    static const uint32_t has[] = {1u << HS_VALUES | 1u << HS_VALUES_OUT | 1u << HS_COUNT | 1u << HS_REPORT, 0,
                                   1u << HS_VALUES | 1u << HS_VALUES_OUT | 1u << HS_OTHER_INPUT,
                                   1u << HS_VALUES | 1u << HS_VALUES_OUT | 1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES,
                                   1u << HS_VALUES | 1u << HS_REPORT};
    const uint32_t roles = has[c->entry] | 1u << HS_SOURCE |
                           (c->entry == HS_DIGEST ? 0u : 1u << HS_DESTINATION | 1u << HS_SCRATCH);
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++)
        if (!(roles >> i & 1)) memset(&c->at[i], 0, sizeof c->at[i]);
    if (c->entry == HS_SCAN) {
        memset(&c->options, 0, sizeof c->options);
        c->parts = 0;
    }
}

/* One call, right or wrong, and sometimes with a failing driver. */
static void fuzz_one(const hs_sort *s)
{
    uint32_t i, roles = 0;
    fuzz_case c = fuzz_good(s);
    fuzz_play play;
    const uint64_t mutations = fuzz_one_in(3) ? 0 : 1 + fuzz_below(3);
    const unsigned fail = fuzz_one_in(6) ? 1 + (unsigned)fuzz_below(fuzz_one_in(3) ? 200 : 20) : 0;
    uint64_t m;
    int legal;
    hs_status status;
    for (m = 0; m < mutations; m++) fuzz_mutate(&c);
    fuzz_reshape(&c);
    legal = fuzz_legal(&c, &play);
    fuzz_count = 0;
    fuzz_calls++;
    status = fuzz_perform(&c, fail);
    fuzz_status = hs_status_text(status);
    fuzz_expect(strcmp(fuzz_status, "unknown status") != 0, &c, "no status");
    if (fuzz_injected) {
        fuzz_failed++;
        fuzz_expect(status != HS_OK, &c, "a driver's failure is not reported");
        return;
    }
    if (status == HS_OK) fuzz_right++;
    for (i = 0; i < HS_ROLES; i++) roles |= (uint32_t)(c.at[i].memory != 0) << i;
    if (c.at[HS_VALUES_OUT].memory == c.at[HS_VALUES].memory && c.at[HS_VALUES_OUT].offset == c.at[HS_VALUES].offset)
        roles &= ~(1u << HS_VALUES_OUT);
    if (status == HS_ERROR_OPTION) fuzz_expect(hs_missing_option(s, &c.options, roles) != NULL, &c, "no option is missing");
    if (status == HS_OK && c.n && (s->kind != HS_MERGE || (c.parts && c.parts < c.n))) /* empty arrays need no values */
        fuzz_expect(!hs_missing_option(s, &c.options, roles), &c, "an option is missing");
    fuzz_expect(status != HS_OK || legal, &c, "a wrong call is taken");
    fuzz_expect(status == HS_OK || !legal || (FUZZ_LIMITED && status == HS_ERROR_DEVICE), &c, "a right call is refused");
    fuzz_expect(status == HS_OK || fuzz_count == 0, &c, "a call that is refused launches something");
    if (status == HS_OK && legal) fuzz_launches(&c, &play);
}

/* Functions that need no sorter, with null pointers. */
static void fuzz_plain(const hs_sort *s)
{
    const hs_sort *given = fuzz_one_in(3) ? NULL : s;
    const uint64_t n = fuzz_one_in(2) ? fuzz_any() : fuzz_n(s);
    uint64_t a = 0, b = 0, *first = fuzz_one_in(3) ? NULL : &a, *second = fuzz_one_in(3) ? NULL : &b;
    uint32_t words[64], redone = 0, faults = 0, *to = fuzz_one_in(3) ? NULL : &redone;
    const void *from = fuzz_one_in(3) ? NULL : words;
    const uint64_t bytes = fuzz_one_in(2) ? 4 * (uint64_t)s->device_status.words : fuzz_any();
    fuzz_case c;
    hs_status status;
    hs_info info;
    memset(words, 0xff, sizeof words);
    memset(&c, 0, sizeof c);
    c.sort = s;
    c.options.type = (hs_type)(fuzz_random() & 255);
    c.options.end_bit = (uint32_t)fuzz_any();
    c.options.begin_bit = (uint32_t)fuzz_any();
    if (fuzz_one_in(2)) memset(&c.options, 0, sizeof c.options);
    status = hs_scratch_with(given, n, fuzz_one_in(2) ? &c.options : NULL, first);
    fuzz_expect(status != HS_OK || (given && first && n <= s->max_n), NULL, "hs_scratch_with takes too much");
    fuzz_expect((hs_pad(given, n, first, second) == HS_OK) == (given && n <= s->max_n), NULL, "hs_pad");
    status = hs_device_status_at(given, n, first, second);
    fuzz_expect((status == HS_OK) == (given && first && second && n <= s->max_n), NULL, "hs_device_status_at");
    if (status == HS_OK) fuzz_expect(b == 0 || a + b <= fuzz_scratch(s, n), NULL, "an outcome beyond scratch");
    status = hs_device_status(given, from, bytes, to);
    fuzz_expect(status != HS_OK || (given && to), NULL, "hs_device_status");
    fuzz_expect((hs_describe(given, fuzz_one_in(2) ? &info : NULL) == HS_OK) <= (given != NULL), NULL, "hs_describe");
    status = hs_digest_compare((const uint32_t *)from, words, (int)fuzz_below(2), to ? &faults : NULL);
    fuzz_expect((status == HS_OK) == (from && to), NULL, "hs_digest_compare");
    (void)hs_status_text((hs_status)fuzz_below(40));
}

/* Copies of all sorts of the bundle, to which the API's file adds kernels. */
enum { FUZZ_SORTS = 64 };
static hs_sort fuzz_sorts[FUZZ_SORTS];
static size_t fuzz_collect(void)
{
    size_t t, s, count = 0;
    for (t = 0; t < hs_targets_count; t++)
        for (s = 0; s < hs_targets[t]->sort_count && count < FUZZ_SORTS; s++)
            fuzz_sorts[count++] = *hs_targets[t]->sorts[s];
    return count;
}

/* A sorter for each sort in turn, and some hundred calls of each. */
static int fuzz_main(int argc, char **argv, size_t count)
{
    const double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
    const time_t begin = time(NULL);
    fuzz_seed = fuzz_state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)begin;
    printf("seed %llu\n", (unsigned long long)fuzz_seed);
    fflush(stdout);
    fuzz_nulls();
    while (seconds > 0 ? difftime(time(NULL), begin) < seconds : fuzz_calls < FUZZ_CALLS) {
        const hs_sort *s = &fuzz_sorts[fuzz_below(count)];
        int i;
        if (!fuzz_create(s)) {
            fuzz_expect(0, NULL, "a sorter is not made");
            break;
        }
        for (i = 0; i < 300; i++) fuzz_one(s);
        fuzz_plain(s);
        fuzz_release();
    }
    printf("%lu calls, %lu right, %lu with a failing driver, %d wrong\n", fuzz_calls, fuzz_right, fuzz_failed, fuzz_wrong);
    return fuzz_wrong != 0;
}

#endif
