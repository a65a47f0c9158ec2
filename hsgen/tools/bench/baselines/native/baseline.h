/* The functions that Python calls in a baseline on the host.  Each baseline is a library of its own. */
#ifndef HSGEN_BASELINE_H
#define HSGEN_BASELINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return the version of the library that sorts.  If the sort belongs to no library, return the compiler's version. */
const char *baseline_version(void);

/* Sort n < 2^32 unsigned keys of `size` bytes, 4 or 8, in place, in ascending order.  `spare` has the same size as
 * `keys` and may be overwritten.  Return the seconds that the sort took.  `lsd` also supports the size BASELINE_PAIRS:
 * words of 8 bytes, with a key in the upper half and a value in the lower half, which are sorted stably by key. */
enum { BASELINE_PAIRS = 0 };
double baseline_sort(void *keys, void *spare, size_t n, int size);

#ifdef __cplusplus
}
#endif

#endif
