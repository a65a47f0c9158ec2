/* The OpenCL harness: the arguments of each operation, from the call that Python describes. */
#include "hn_opencl.h"

#include <string.h>

/* HSGEN_CALLS */
