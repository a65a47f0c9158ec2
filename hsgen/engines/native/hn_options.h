/* Conversions of an hn_call to the types of a bundle's headers, for harness files that include these headers. */
#ifndef HN_OPTIONS_H
#define HN_OPTIONS_H

#include "harness.h"
#include "hs/hs_plan.h"

static inline hs_options hn_options_of(const hn_call *call)
{
    hs_options options;
    options.type = (hs_type)call->type;
    options.descending = call->descending;
    options.begin_bit = call->begin_bit;
    options.end_bit = call->end_bit;
    options.discard_keys = call->discard_keys;
    return options;
}

/* The reduction of a call, and the type of its values, from the number `reduction`, in which hs_reduction_number packs
 * both. */
static inline hs_reduction hn_reduction(const hn_call *call) { return (hs_reduction)(call->reduction & 3u); }
static inline hs_type hn_reduced(const hn_call *call) { return (hs_type)((uint32_t)HS_U32 | (uint32_t)(call->reduction >> 2 & 3u)); }

/* Set the columns and fields of a call that packs columns, and return the number of columns.  The columns come from the
 * number `columns`, in which hs_pack_number packs them.  The fields come from `layouts`, in which hs_pack_layouts packs
 * them. */
static inline uint32_t hn_columns(const hn_call *call, hs_column columns[HS_COLUMNS], hs_field fields[HS_COLUMNS])
{
    uint32_t i;
    for (i = 0; i < HS_COLUMNS; i++) {
        const uint32_t column = (uint32_t)(call->columns >> 6 * i);
        if (!(column & 32u)) break;
        columns[i].type = (hs_type)(16u << (column & 3u) | (column >> 2 & 3u));
        columns[i].descending = column >> 4 & 1u;
        fields[i].stride = (uint32_t)(call->layouts >> 15 * i & 127u) * 4;
        fields[i].offset = (uint32_t)(call->layouts >> (15 * i + 7) & 255u);
    }
    return i;
}

#endif
