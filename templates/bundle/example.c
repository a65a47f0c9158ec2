/* The sort of this bundle that the program runs: how many keys, their type, and the values that are sorted with
 * them. */
#define KEY "HSGEN_KEY"
#define VALUE HSGEN_VALUE
enum { COUNT = HSGEN_COUNT, KEY_BYTES = HSGEN_KEY_BYTES, VALUE_BYTES = HSGEN_VALUE_BYTES };
enum { MAKES_INDICES = HSGEN_MAKES_INDICES }; /* 1: an argsort; no values are read, and the written values are the
                                                 indices of keys */

/* Key or value i of an array as a number; for wide values, their first 8 bytes.  The host is little-endian, like
 * devices. */
static uint64_t number_at(const void *array, size_t bytes, size_t i)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)array + bytes * i, bytes < sizeof number ? bytes : sizeof number);
    return number;
}

/* Fill in random keys, the same in each run; and, if there are values, the index of each key. */
static void fill(void *keys, void *values)
{
    uint64_t x = 2463534242u, i;
    for (i = 0; i < COUNT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy((char *)keys + KEY_BYTES * i, &x, KEY_BYTES);
        if (VALUE_BYTES > 0) memset((char *)values + VALUE_BYTES * i, 0, VALUE_BYTES);
        if (VALUE_BYTES > 0) memcpy((char *)values + VALUE_BYTES * i, &i, VALUE_BYTES < 8 ? 4 : 8);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = number_at(a, KEY_BYTES, 0), y = number_at(b, KEY_BYTES, 0);
    return (x > y) - (x < y);
}

/* 1 if `keys` are the keys of `before` in order, and the value of each key is its index in `before`; sorts `before`. */
static int is_sorted(void *before, const void *keys, const void *values)
{
    size_t valued = VALUE_BYTES > 0 ? COUNT : 0;
    char *seen = (char *)calloc(COUNT, 1);
    size_t i;
    int right = seen != NULL;
    for (i = 0; right && i < valued; i++) {
        const uint64_t index = number_at(values, VALUE_BYTES, i);
        right = index < COUNT && !seen[index] &&
                number_at(before, KEY_BYTES, (size_t)index) == number_at(keys, KEY_BYTES, i);
        if (right) seen[index] = 1;
    }
    free(seen);
    qsort(before, COUNT, KEY_BYTES, compare);
    return right && memcmp(before, keys, (size_t)COUNT * KEY_BYTES) == 0;
}
