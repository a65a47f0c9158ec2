/* The operations of hs_cuda.h.  Each stores its arguments in a record, which it passes to hs_cuda_run. */
#include "hs_cuda_internal.h"

#include <string.h>

/* HSGEN_CALLS */
