/* Proofs of the C runtime, function by function, by CBMC.

   The plan of a sort is any within the bounds of plans.h; counts, options, buffers and scratch are any.  CBMC also
   checks each access, division, shift, addition, multiplication and conversion in the functions themselves.  */
#include "plans.h"

#include "hs.c"
#include "hs_plan.c"
#include "hs_call.c"
#include "hs_match.c"

#define ROOM 12 /* bytes of a text; the loops of strings are the same for longer texts */

/* Any value. */
uint64_t nondet_u64(void);
uint32_t nondet_u32(void);
char nondet_char(void);
hs_step nondet_step(void);
hs_kernel nondet_kernel(void);
hs_binding nondet_binding(void);
hs_scratch_rule nondet_rule(void);
hs_sort nondet_sort(void);
hs_call nondet_call(void);
hs_options nondet_options(void);
hs_span nondet_span(void);
hs_column nondet_column(void);
hs_field nondet_field(void);
hs_scope nondet_scope(void);

#define ASSUME(what) __CPROVER_assume(what)
#define PROVE(what) __CPROVER_assert(what, #what)

static hs_step any_step(void)
{
    hs_step step = nondet_step();
    ASSUME(guard_within(&step.guard) && grid_within(&step.grid) && argument_within(&step.argument));
    return step;
}

/* A sort with one step, one kernel and two rules of scratch.  The bindings of the step have any roles, so the sort uses
 * any buffers: calls depend on the union of the buffers of all steps, and on the greatest of the rules. */
static hs_step steps[1];
static hs_kernel kernels[1];
static hs_scratch_rule rules[2];
static char key[4] = "u32";

static hs_sort any_sort(void)
{
    hs_sort sort = nondet_sort();
#ifdef KIND
    sort.kind = KIND;
#endif
    ASSUME(sort_within(&sort));
    steps[0] = any_step();
    steps[0].kernel = 0;
    kernels[0] = nondet_kernel();
    ASSUME(kernels[0].bindings <= HS_BINDINGS);
    for (int i = 0; i < HS_BINDINGS; i++) ASSUME(binding_within(&steps[0].bindings[i]));
    for (int i = 0; i < 2; i++) {
        rules[i] = nondet_rule();
        ASSUME(rule_within(&rules[i]));
    }
    key[0] = nondet_u32() & 1 ? 'f' : 'u';
    sort.key = key;
    sort.kernels = kernels;
    sort.steps = steps;
    sort.kernel_count = sort.step_count = 1;
    sort.scratch = rules;
    sort.scratch_rule_count = 2;
    return sort;
}

/* Options that a sort takes. */
static hs_options any_options(const hs_sort *sort)
{
    hs_options options = nondet_options();
    ASSUME(hs_takes(sort, &options) == HS_OK);
    return options;
}

void prove_groups(void)
{
    const hs_step step = any_step();
    hs_call call = nondet_call();
    ASSUME(call.n <= MAX_N && call.number <= INT32_MAX);
    const uint64_t groups = hs_groups(&step, &call);
    PROVE(groups <= step.grid.cap);
    PROVE(!groups || step.guard.x == HS_BY_LENGTH || call.n > step.guard.min_n || (call.n == 0 && step.guard.at_zero));
    PROVE(!groups || step.guard.x == HS_BY_LENGTH || call.n <= step.guard.max_n || call.device_count);
    PROVE(!groups || step.guard.place != (uint32_t)(call.in_place ? HS_OUT_OF_PLACE : HS_IN_PLACE));
}

#ifndef LIMIT
#define LIMIT 65535 /* the work-groups in a row */
#endif
#ifndef GROUPS
#define GROUPS UINT32_MAX
#endif
void prove_grid(void)
{
    const uint64_t groups = nondet_u64(), limit = LIMIT;
    uint32_t grid[2];
    ASSUME(groups <= GROUPS);
    if (!hs_grid(groups, limit, grid)) return;
    PROVE(grid[0] && grid[1]);
    PROVE(grid[0] <= limit && grid[1] <= limit);
    PROVE((uint64_t)grid[0] * grid[1] >= groups);
}

void prove_argument(void)
{
    const hs_sort sort = any_sort();
    const hs_options options = any_options(&sort);
    hs_step step = any_step();
    hs_call call = nondet_call();
    int32_t argument = 0;
    call.options = &options;
    ASSUME(call.number <= INT32_MAX);
    if (!hs_argument(&sort, &step, &call, &argument)) return;
    if (step.argument.kind != HS_PASS) return;
    const uint32_t low = (uint32_t)argument & (HS_REDO - 1), pass = low & 255, shift = low >> 8 & 255, width = low >> 16;
    const uint32_t end = options.end_bit ? options.end_bit : sort.key_bits;
    PROVE(pass == (uint32_t)step.argument.value);
    PROVE(width <= step.argument.bits);
    PROVE(shift >= sort.first_bit + options.begin_bit);
    PROVE(shift + width <= sort.first_bit + end);
}

void prove_offset(void)
{
    const hs_binding binding = nondet_binding();
    const uint64_t n = nondet_u64(), more = nondet_u64();
    ASSUME(binding_within(&binding) && n <= MAX_N && more <= MAX_N && n <= more);
    PROVE(binding.role != HS_SCRATCH || hs_offset(&binding, n) % 1024 == 0);
    PROVE(hs_offset(&binding, n) >= binding.plus);
}

void prove_scratch(void)
{
    const hs_sort sort = any_sort();
    uint64_t bytes = 0;
    const uint64_t n = nondet_u64();
    const hs_status status = hs_scratch(&sort, n, &bytes);
    PROVE((status == HS_OK) == (n <= sort.max_n));
    PROVE(status != HS_OK || bytes <= (uint64_t)1 << 52);
}

void prove_numbers(void)
{
    const hs_sort sort = any_sort();
    const hs_step step = any_step();
    const hs_call call = nondet_call();
    int32_t numbers[2];
    ASSUME(sort.kind != HS_PACK || call.take < (uint64_t)1 << 60);
    hs_numbers(&sort, &step, &call, numbers);
    PROVE(numbers[0] >= 0);
    PROVE(numbers[1] >= 0);
}

void prove_pack(void)
{
    hs_column columns[HS_COLUMNS];
    hs_field fields[HS_COLUMNS];
    const uint64_t count = nondet_u64(), n = nondet_u64();
    const uint32_t begin = nondet_u32();
    for (int i = 0; i < HS_COLUMNS; i++) columns[i] = nondet_column(), fields[i] = nondet_field();
    const uint64_t number = hs_pack_number(columns, count, begin), layouts = hs_pack_layouts(columns, fields, count);
    PROVE(number == UINT64_MAX || number <= INT32_MAX);
    PROVE(number == UINT64_MAX || begin < 128);
    PROVE(layouts >= UINT64_MAX - 1 || layouts < (uint64_t)1 << 60);
}

void prove_pack_fits(void)
{
    const uint64_t n = nondet_u64(), number = nondet_u64(), layouts = nondet_u64();
    const uint32_t i = nondet_u32() % HS_COLUMNS;
    if (hs_pack_fits(n, number, layouts) != HS_OK) return;
    const uint64_t stride = layouts >> 15 * i & 127;
    PROVE(stride == 0 || n <= INT32_MAX / stride);
    if (n > MAX_N) return;
    PROVE(hs_column_bytes(n, number, layouts, i) <= (uint64_t)1 << 44);
}

/* hs_survey in steps.  Each step assumes what the steps before it prove. */

void prove_takes(void)
{
    const hs_sort sort = any_sort();
    const hs_options options = nondet_options();
    const uint32_t end = options.end_bit ? options.end_bit : sort.key_bits;
    if (hs_takes(&sort, &options) != HS_OK) return;
    PROVE(options.begin_bit <= end && end <= sort.key_bits);
    PROVE(sort.bit_range || end - options.begin_bit == sort.key_bits);
    PROVE(!options.discard_keys || sort.index);
}

/* What hs_divided ensures for the kind of a sort. */
static int divided(const hs_sort *sort, const hs_call *call)
{
    if (call->number > INT32_MAX) return 0;
    switch (sort->kind) {
    case HS_MERGE: return call->number <= call->n;
    case HS_DIGEST: return call->number >= call->n && call->number <= sort->max_n;
    case HS_TOP_K: return !call->n || (call->number && call->take <= call->n / call->number);
    case HS_GATHER:
        return !call->n || (call->take && call->number <= INT32_MAX / call->take && call->n <= INT32_MAX / call->take);
    case HS_PACK: return hs_pack_fits(call->n, call->number, call->take) == HS_OK;
    default: return 1;
    }
}

/* The bound of calls that multiply or divide two of their numbers, on which a SAT solver takes long. */
#ifndef MOST
#define MOST UINT64_MAX
#endif
#ifndef MOST_N
#define MOST_N MOST
#endif
static int bounded(const hs_call *call)
{
    return call->n <= MOST_N && call->number <= MOST && call->take <= MOST;
}

/* The same without divisions: x <= y / z if x * z <= y, and the reverse. */
static int divided_products(const hs_sort *sort, const hs_call *call)
{
    if (sort->kind != HS_TOP_K && sort->kind != HS_GATHER) return divided(sort, call);
    if (call->number > INT32_MAX || call->take > INT32_MAX || call->n > INT32_MAX || !call->n) return 0;
    if (sort->kind == HS_TOP_K) return call->number * call->take <= call->n;
    return call->number * call->take <= INT32_MAX && call->n * call->take <= INT32_MAX;
}

void prove_divided(void)
{
    const hs_sort sort = any_sort();
    hs_call call = nondet_call();
    ASSUME(call.n <= sort.max_n && bounded(&call));
    if (hs_divided(&sort, &call, (int)(nondet_u32() & 1)) != HS_OK) return;
    PROVE(divided(&sort, &call));
}

void prove_touched(void)
{
    const hs_sort sort = any_sort();
    const hs_call call = nondet_call();
    const int r = (int)(nondet_u32() % HS_ROLES);
    uint64_t bytes[HS_ROLES];
    ASSUME(call.n && call.n <= sort.max_n && divided_products(&sort, &call));
    hs_touched(&sort, &call, bytes);
    PROVE(bytes[r] <= (uint64_t)1 << 50);
    if (sort.kind == HS_MERGE) { /* the two arrays have n elements together */
        const int values = (int)(nondet_u32() & 1);
        const hs_role first = values ? HS_VALUES : HS_SOURCE, second = values ? HS_OTHER_VALUES : HS_OTHER_INPUT;
        PROVE(bytes[first] + bytes[second] == call.n * hs_element(&sort, first));
    }
}

/* Buffers are large enough, aligned, and apart unless both are only read. */
void prove_fits(void)
{
    const hs_sort sort = any_sort();
    hs_span spans[HS_ROLES];
    const int in_place = (int)(nondet_u32() & 1);
    const int r = (int)(nondet_u32() % HS_ROLES), s = (int)(nondet_u32() % HS_ROLES);
    for (int i = 0; i < HS_ROLES; i++) spans[i] = nondet_span();
    ASSUME(sort.value_bytes); /* as hs_played ensures if there are bytes of values */
    if (hs_fits(&sort, spans, in_place) != HS_OK) return;
    const hs_span *a = &spans[r], *b = &spans[s];
    PROVE(a->bytes <= a->room && a->bytes <= UINT64_MAX - a->begin);
    PROVE(!a->bytes || a->begin % hs_element(&sort, (hs_role)r) == 0);
    const int written = r == HS_DESTINATION || r == HS_SCRATCH || r == HS_VALUES_OUT || r == HS_REPORT ||
                        (in_place && (r == HS_SOURCE || r == HS_VALUES)) ||
                        (hs_reduces(&sort) && (r == HS_OTHER_INPUT || r == HS_OTHER_VALUES));
    PROVE(r == s || !written || !a->bytes || !b->bytes || a->where != b->where || a->begin + a->bytes <= b->begin ||
          b->begin + b->bytes <= a->begin);
}

/* The whole, with any result of hs_divided and any bytes of hs_touched. */
void prove_survey(void)
{
    const hs_sort sort = any_sort();
    const hs_options options = nondet_options();
    hs_call call = nondet_call();
    hs_span spans[HS_ROLES], given[HS_ROLES];
    call.options = &options;
    for (int i = 0; i < HS_ROLES; i++) spans[i] = given[i] = nondet_span();
    for (int i = 0; i < 2; i++) ASSUME(rules[i].per_n == 0 && rules[i].per_unit == 0 && rules[i].unit == 1); /* any size */
    ASSUME(bounded(&call));
    if (hs_survey(&sort, &call, spans) != HS_OK || hs_idle(&sort, call.n)) return;
    const int r = (int)(nondet_u32() % HS_ROLES);
    const hs_span *a = &spans[r];
    PROVE(a->bytes <= a->room);
    PROVE(a->bytes <= UINT64_MAX - a->begin);
    PROVE((uint32_t)a->from < HS_ROLES);
    /* no byte beyond the buffer that the caller gave for the role `from` */
    const hs_span *of = &given[a->from];
    PROVE(!a->bytes || (of->where && a->begin >= of->begin && a->bytes <= of->room));
    PROVE(!a->bytes || a->begin - of->begin <= of->room - a->bytes);
}

void prove_scopes(void)
{
    const hs_sort sort = any_sort();
    const hs_scope wanted = nondet_scope();
    hs_scope scope;
    if (hs_scope_of(&sort, nondet_u32() & 1 ? &wanted : NULL, &scope) != HS_OK) return;
    PROVE(scope.min_n <= scope.max_n && scope.max_n <= sort.max_n);
    PROVE(hs_scope_steps(&sort, &scope) <= 1);
    const hs_options options = any_options(&sort);
    hs_call call = nondet_call();
    call.options = &options;
    ASSUME(call.n <= sort.max_n);
    if (hs_scope_takes(&sort, &scope, &call) != HS_OK) return;
    PROVE(!call.n || (call.n >= scope.min_n && call.n <= scope.max_n));
}

/* A step that a call of a scope runs is one for which the sorter has a kernel. */
void prove_kernels(void)
{
    const hs_sort sort = any_sort();
    hs_scope scope;
    const hs_scope wanted = nondet_scope();
    const hs_options options = any_options(&sort);
    hs_call call = nondet_call();
    uint32_t grid[2];
    int32_t argument;
    call.options = &options;
    ASSUME(call.number <= INT32_MAX && call.n <= sort.max_n);
    if (hs_scope_of(&sort, &wanted, &scope) != HS_OK || hs_scope_takes(&sort, &scope, &call) != HS_OK) return;
    ASSUME(steps[0].guard.x == HS_BY_N);
    if (!hs_groups(&steps[0], &call) || !hs_argument(&sort, &steps[0], &call, &argument)) return;
    PROVE(hs_scope_has(&sort, &scope, 0, 0));
}

void prove_status(void)
{
    const hs_sort sort = any_sort();
    uint64_t offset = 0, bytes = 0;
    uint32_t words[8], redone = 0, faults = 0, before[8], after[8];
    const uint64_t n = nondet_u64(), size = nondet_u64();
    ASSUME(binding_within(&sort.device_status.binding) && sort.device_status.words <= 8 && size <= sizeof words);
    for (int i = 0; i < 8; i++) words[i] = nondet_u32(), before[i] = nondet_u32(), after[i] = nondet_u32();
    if (hs_device_status_at(&sort, n, &offset, &bytes) == HS_OK) PROVE(bytes <= sizeof words);
    if (hs_device_status(&sort, words, size, &redone) == HS_OK) PROVE(redone <= sort.device_status.words);
    PROVE(hs_digest_compare(before, after, (int)(nondet_u32() & 1), &faults) == HS_OK && faults < 32);
}

/* hs_explain and hs_reason add texts by hs_add alone. */
void prove_add(void)
{
    char text[ROOM], more[ROOM];
    const size_t room = 1 + nondet_u32() % ROOM, end = nondet_u32();
    for (int i = 0; i < ROOM; i++) text[i] = nondet_char(), more[i] = nondet_char();
    ASSUME(end < room && text[end] == 0);
    more[ROOM - 1] = 0;
    hs_add(text, room, more);
    int ends = 0;
    for (size_t i = 0; i < ROOM; i++) ends |= i < room && text[i] == 0;
    PROVE(ends);
}
