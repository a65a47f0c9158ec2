/* The bounds of plans for which the proofs of calls.c hold.  tables.c checks that every sort of generated/ is within. */
#ifndef PLANS_H
#define PLANS_H

#include "hs/hs_plan.h"

#define MAX_N ((uint64_t)1 << 40)
#define MAX_32 ((uint64_t)UINT32_MAX)

/* A grid: no factor or summand overflows for up to MAX_N items. */
static int grid_within(const hs_grid_rule *g)
{
    return g->x <= HS_BY_NUMBER && g->add >= -(int64_t)MAX_N && g->add <= (int64_t)MAX_N && g->div >= 1 && g->div <= MAX_32 &&
           g->mul >= 1 && g->mul <= 1u << 22 && g->cap <= MAX_32;
}

static int guard_within(const hs_guard *g)
{
    return g->max_n <= MAX_N && (g->min_n < g->max_n || g->at_zero) && g->place <= HS_OUT_OF_PLACE && g->range <= HS_SOME_BITS &&
           g->at_zero <= 1 && (g->x == HS_BY_N || g->x == HS_BY_LENGTH) && g->reduction <= HS_ROUNDED_REDUCTION;
}

/* An argument: a pass has at most 16 bits and a number below 64; a literal leaves the flags alone. */
static int argument_within(const hs_argument_rule *a)
{
    if (a->flags & ~(uint32_t)(HS_REDO | HS_DIRECT | HS_DISCARD)) return 0;
    if (a->kind == HS_PASS) return a->bits >= 1 && a->bits <= 16 && a->value >= 0 && a->value < 64;
    if (a->kind == HS_PASS_COUNT) return a->bits >= 1 && a->bits <= 16;
    return a->kind <= HS_INDIRECT_GRIDS && (a->kind != HS_LITERAL || (a->value >= 0 && a->value < HS_REDO));
}

static int binding_within(const hs_binding *b)
{
    return (uint32_t)b->role < HS_ROLES && b->plus <= MAX_N && b->per_n <= 256 && b->max_n <= MAX_N;
}

static int rule_within(const hs_scratch_rule *r)
{
    return r->min_n <= r->max_n && r->max_n <= MAX_N && r->plus <= MAX_N && r->per_n <= 256 && r->unit >= 1 &&
           r->per_unit <= 1u << 20 && r->units <= 1u << 30;
}

static int power(uint32_t x, uint32_t least, uint32_t most)
{
    return x >= least && x <= most && (x & (x - 1)) == 0;
}

/* The members of a sort that calls read, without its tables. */
static int sort_within(const hs_sort *s)
{
    return (uint32_t)s->kind <= HS_GROUP_BY && s->columns >= 1 && s->columns <= (s->kind == HS_SCAN ? 4u : 1u) &&
           power(s->key_bytes, 1, 16) && (s->value_bytes == 0 || power(s->value_bytes, 1, 16)) && s->first_bit <= 64 &&
           s->key_bits >= 1 && s->key_bits <= 128 && s->first_bit + s->key_bits <= 8 * s->key_bytes && s->key_transform <= 1 &&
           s->bit_range <= 1 && s->device_count <= 1 && s->index <= 1 && (!s->index || s->value_bytes) &&
           s->max_n <= (s->kind == HS_TOP_K ? INT32_MAX : MAX_N) && s->report_words <= 1u << 10 &&
           s->report_words_per_key <= 8 && s->scratch_rule_count <= 64;
}

#endif
