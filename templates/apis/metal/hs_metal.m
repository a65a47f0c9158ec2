/* The operations of hs_metal.h.  Each stores its arguments in a record, which it passes to hs_metal_run. */
#include "hs_metal_internal.h"

#include <string.h>

/* HSGEN_CALLS */
