/* What follows a sort with indices in numeric order: 64-bit indices, and the bits of zeros and NaNs that keys had.
 *
 * Defined before: HS_INDEX, the type of indices; HS_KEYS, whether there are float keys, then HS_BITS, their type as
 * unsigned numbers, HS_MAGNITUDE and HS_INFINITY, the bits of all numbers without their sign, and of infinity. */
#define HS_EACH 4 /* items of a thread, a block apart */

/* from: the n indices that the sort wrote.  to: those of the result, in the row; null: they are left as they are.
 * length: of a row.  in_row: whether an index is that in its row, and else in the whole array. */
extern "C" __global__ void __launch_bounds__(256) hs_finish(const HS_INDEX *from, long long *to,
#if HS_KEYS
                                                            HS_BITS *keys, const HS_BITS *source,
#endif
                                                            long long n, long long length, int in_row)
{
    const long long tile = (long long)blockIdx.x * 256 * HS_EACH, first = tile + threadIdx.x;
    HS_INDEX at[HS_EACH];
#pragma unroll
    for (int j = 0; j < HS_EACH; j++) at[j] = from[min(first + j * 256, n - 1)];
#if HS_KEYS
    /* between two sorted keys of one sign that are neither zeros nor NaNs there are no others */
    const HS_BITS one = keys[tile], last = keys[min(tile + 256 * HS_EACH, n) - 1], magnitudes = (HS_BITS)HS_MAGNITUDE;
    const HS_BITS least = min(one & magnitudes, last & magnitudes), most = max(one & magnitudes, last & magnitudes);
    const bool ordinary = length >= n && (one > magnitudes) == (last > magnitudes) && least != 0 && most <= (HS_BITS)HS_INFINITY;
    __syncthreads(); /* ends are read before any key changes */
#endif
#pragma unroll
    for (int j = 0; j < HS_EACH; j++) {
        const long long i = first + j * 256;
        long long begin = 0;
        if (i >= n) break;
        if (length < n) begin = (n >> 32 ? i / length : (unsigned)i / (unsigned)length) * length;
#if HS_KEYS
        if (!ordinary) {
            const HS_BITS size = keys[i] & magnitudes;
            if (size == 0 || size > (HS_BITS)HS_INFINITY) keys[i] = source[in_row ? begin + at[j] : at[j]];
        }
#endif
        if (to) to[i] = in_row ? at[j] : at[j] - begin;
    }
}
