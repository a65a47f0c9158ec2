/* The options of a call, for the parts of a harness that include a bundle's headers. */
#ifndef HN_OPTIONS_H
#define HN_OPTIONS_H

#include "harness.h"
#include "hs/hs.h"

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

#endif
