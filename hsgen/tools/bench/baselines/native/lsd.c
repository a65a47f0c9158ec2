/* An LSD radix sort on one thread, with 8 bits per pass.  One read of the keys counts the digits of all passes.  Then
 * each pass moves every key to its place.  The code uses no instructions of a certain CPU. */
#define _POSIX_C_SOURCE 199309L

#include "baseline.h"

#include <stdint.h>
#include <time.h>

/* The number of passes is even, so the last pass writes to the array that the keys were in at first. */
#define DEFINE_SORT(Key, NAME)                                                                                     \
    static void NAME##_pass(const Key *restrict from, Key *restrict to, size_t n, unsigned shift, uint32_t *counts) \
    {                                                                                                              \
        uint32_t places[256], place = 0;                                                                           \
        for (int digit = 0; digit < 256; digit++) {                                                                \
            places[digit] = place;                                                                                 \
            place += counts[digit];                                                                                \
        }                                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                                           \
            const Key key = from[i];                                                                               \
            to[places[key >> shift & 255]++] = key;                                                                \
        }                                                                                                          \
    }                                                                                                              \
                                                                                                                   \
    static void NAME(Key *keys, Key *spare, size_t n)                                                              \
    {                                                                                                              \
        uint32_t counts[sizeof(Key)][256] = {{0}};                                                                 \
        for (size_t i = 0; i < n; i++)                                                                             \
            for (unsigned pass = 0; pass < sizeof(Key); pass++)                                                    \
                counts[pass][keys[i] >> 8 * pass & 255]++;                                                         \
        for (unsigned pass = 0; pass < sizeof(Key); pass += 2) {                                                   \
            NAME##_pass(keys, spare, n, 8 * pass, counts[pass]);                                                   \
            NAME##_pass(spare, keys, n, 8 * pass + 8, counts[pass + 1]);                                           \
        }                                                                                                          \
    }

DEFINE_SORT(uint32_t, sort_u32)
DEFINE_SORT(uint64_t, sort_u64)

/* The same sort for 64-bit words with a key in the upper half and a value in the lower half. */
static void sort_pairs(uint64_t *pairs, uint64_t *spare, size_t n)
{
    uint32_t counts[4][256] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (unsigned pass = 0; pass < 4; pass++)
            counts[pass][pairs[i] >> (32 + 8 * pass) & 255]++;
    for (unsigned pass = 0; pass < 4; pass += 2) {
        sort_u64_pass(pairs, spare, n, 32 + 8 * pass, counts[pass]);
        sort_u64_pass(spare, pairs, n, 40 + 8 * pass, counts[pass + 1]);
    }
}

const char *baseline_version(void)
{
    return "compiler " __VERSION__;
}

double baseline_sort(void *keys, void *spare, size_t n, int size)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (size == 4)
        sort_u32((uint32_t *)keys, (uint32_t *)spare, n);
    else if (size == 8)
        sort_u64((uint64_t *)keys, (uint64_t *)spare, n);
    else
        sort_pairs((uint64_t *)keys, (uint64_t *)spare, n);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}
