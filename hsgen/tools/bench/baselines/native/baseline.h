/* What a baseline on the host offers to Python; each baseline is a library of its own. */
#ifndef HSGEN_BASELINE_H
#define HSGEN_BASELINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that sorts, or of the compiler where the sort is nothing but compiled code. */
const char *baseline_version(void);

/* Sort n < 2^32 unsigned keys of `size` bytes, 4 or 8, in place and ascending; `spare` holds as many and may be
 * overwritten.  Return the seconds that the sort took.  `lsd` also knows the size BASELINE_PAIRS: words of 8 bytes whose
 * upper halves are keys, and their lower halves values, which stay in the order that equal keys had. */
enum { BASELINE_PAIRS = 0 };
double baseline_sort(void *keys, void *spare, size_t n, int size);

#ifdef __cplusplus
}
#endif

#endif
