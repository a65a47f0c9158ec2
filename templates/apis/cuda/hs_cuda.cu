/* The operations of hs_cuda.h: arguments by name become one record, which hs_cuda_run takes. */
#include "hs_cuda_internal.h"

#include <string.h>

/* HSGEN_CALLS */
