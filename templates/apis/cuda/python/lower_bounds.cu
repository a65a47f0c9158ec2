/* The number of sorted keys below each of some probes: a binary search for each probe, a lane for each search.
 *
 * Defined before: HS_BITS, the type of keys as unsigned numbers; HS_KIND, 0 for unsigned, 1 for signed, 2 for float keys;
 * HS_DESCENDING, whether the greatest key is the first. */
#define HS_LANES 128
#define HS_SIGN ((HS_BITS)((HS_BITS)1 << (8 * sizeof(HS_BITS) - 1)))

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

/* keys: n keys in order.  counts: receives the number of keys less than each of the probes, which are in that order. */
extern "C" __global__ void __launch_bounds__(HS_LANES) hs_lower_bounds(const HS_BITS *keys, const unsigned long long *probes,
                                                                       long long *counts, long long n, long long number)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* the kernels ahead may still run */
#endif
    const long long i = (long long)blockIdx.x * HS_LANES + threadIdx.x;
    if (i >= number) return;
    const unsigned long long probe = probes[i];
    long long low = 0, high = n;
    while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (hs_ordered(keys[middle]) < probe)
            low = middle + 1;
        else
            high = middle;
    }
    counts[i] = low;
}
