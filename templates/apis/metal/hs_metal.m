/* The operations of hs_metal.h: arguments by name become one record, which hs_metal_run takes. */
#include "hs_metal_internal.h"

#include <string.h>

/* HSGEN_CALLS */
