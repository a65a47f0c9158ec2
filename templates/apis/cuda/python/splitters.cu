/* The search for splitters, in a sort by several ranks (processes with a device each).  After the sort, each rank has a
 * part of the sorted array; a splitter is the key at the boundary of two parts.  Each round finds one more digit of the
 * splitters of all boundaries.
 *
 * A round counts the keys of this rank that are less than evenly spaced probes.  Probe i of a boundary is
 * start + (i << shift), for i from 0 to 2^bits. The ranks gather their counts. For each inner probe, all ranks together
 * have some keys below it. The digit of a boundary is the number of inner probes with fewer keys than are before the
 * boundary. The next round starts at the probe of that number.
 *
 * Macros that the program defines: HS_BITS, the unsigned type of a key's width; HS_KIND, 0 for unsigned, 1 for signed,
 * 2 for float keys; HS_DESCENDING, 1 if the greatest key is the first. */
#define HS_LANES 128
#define HS_WARP 32
#define HS_SIGN ((HS_BITS)((HS_BITS)1 << (8 * sizeof(HS_BITS) - 1)))
#if __CUDA_ARCH__ >= 900
#define HS_WAIT asm volatile("griddepcontrol.wait;" ::: "memory") /* earlier kernels may still run */
#else
#define HS_WAIT
#endif

/* A key as an unsigned number in the order of the sort. */
static __device__ __forceinline__ unsigned long long hs_ordered(HS_BITS key)
{
#if HS_KIND == 1
    key = (HS_BITS)(key ^ HS_SIGN);
#elif HS_KIND == 2
    key = (HS_BITS)(key & HS_SIGN ? ~key : key ^ HS_SIGN);
#endif
#if HS_DESCENDING
    key = (HS_BITS)~key;
#endif
    return key;
}

/* Find the digit of a boundary; all lanes of a warp get it. rows: the counts of rank 0 for this boundary; those of the
 * next rank are `width` words further on. place: the number of keys before the boundary. */
static __device__ __forceinline__ long long hs_digit(const long long *rows, long long width, long long ranks,
                                                     long long bits, long long place)
{
    long long low = 0, high = (1ll << bits) - 1;
    while (low < high) {
        const long long step = (high - low + HS_WARP - 1) / HS_WARP, i = low + (threadIdx.x % HS_WARP + 1) * step;
        long long total = 0;
        if (i <= high)
            for (long long rank = 0; rank < ranks; rank++) total += rows[rank * width + i];
        const long long less = __popc(__ballot_sync(~0u, i <= high && total < place));
        const long long last = low + (less + 1) * step - 1;
        low += less * step;
        if (last < high) high = last;
    }
    return low;
}

/* One round; blockIdx.y is the number of a boundary. keys: the n keys of this rank in order. rows: the counts of all
 * ranks in the previous round, whose digits had `former` bits; null in the first round. starts: probe 0 of each
 * boundary in the previous round. next: receives probe 0 of each boundary in this round. places: for each boundary, the
 * number of keys of all ranks before it. counts: receives 2^bits + 1 counts for each boundary. */
extern "C" __global__ void __launch_bounds__(HS_LANES)
    hs_count_keys(const HS_BITS *keys, long long n, const long long *rows, long long ranks, long long former,
                  const unsigned long long *starts, unsigned long long *next, const long long *places,
                  long long *counts, long long shift, long long bits)
{
    HS_WAIT;
    const long long boundary = blockIdx.y, i = (long long)blockIdx.x * HS_LANES + threadIdx.x;
    unsigned long long start = 0;
    if (rows) {
        const long long number = (1ll << former) + 1;
        const long long digit =
            hs_digit(rows + boundary * number, number * gridDim.y, ranks, former, places[boundary]);
        start = starts[boundary] + ((unsigned long long)digit << (shift + bits));
    }
    if (i == 0) next[boundary] = start;
    if (i > 1ll << bits) return;

    const unsigned long long probe = start + ((unsigned long long)i << shift);
    long long low = i > 0 && probe <= start ? n : 0, high = n; /* an overflowed probe is greater than all keys */
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (hs_ordered(keys[middle]) < probe)
            low = middle + 1;
        else
            high = middle;
    }
    counts[boundary * ((1ll << bits) + 1) + i] = low;
}

/* The end of the search, after the last round, which has shift 0.  Each boundary has a block of one warp.
 *
 * ends: receives two rows of counts for each rank, with a count for each boundary.  The first row counts the keys that
 * are less than the splitter, the second the keys that are less than or equal to it. */
extern "C" __global__ void __launch_bounds__(HS_WARP)
    hs_count_ends(const long long *rows, long long ranks, long long bits, const long long *places, long long *ends)
{
    HS_WAIT;
    const long long boundary = blockIdx.x, number = (1ll << bits) + 1, width = number * gridDim.x;
    const long long digit = hs_digit(rows + boundary * number, width, ranks, bits, places[boundary]);
    for (long long rank = threadIdx.x; rank < ranks; rank += HS_WARP)
        for (int i = 0; i < 2; i++)
            ends[(2 * rank + i) * gridDim.x + boundary] = rows[rank * width + boundary * number + digit + i];
}
