/* Runs after a sort with indices in numeric order.  Widens indices to 64 bits, and restores the original bits of zeros
 * and NaNs.
 *
 * Macros that the program defines: HS_INDEX, the type of indices; HS_KEYS, 1 if there are float keys.  With float keys,
 * also HS_BITS, the unsigned type of a key's width; HS_MAGNITUDE, all bits of a key but its sign; HS_INFINITY, the bits
 * of infinity. */
#define HS_LANES 256
#define HS_PAIRS 4 /* pairs of adjacent items of a lane, HS_LANES pairs apart; a pair is loaded and stored at once */
#define HS_TILE (2 * HS_LANES * HS_PAIRS)

struct __align__(2 * sizeof(HS_INDEX)) hs_two {
    HS_INDEX x, y;
};

/* The rows of a call.  finished(i, at): restores key i, which had index `at`, and returns the index within its row.
 * ordinary: true only if no key of the tile is a zero or a NaN. */
struct hs_rows {
    long long n, length;
    int in_row;
#if HS_KEYS
    HS_BITS *keys;
    const HS_BITS *source;
    bool ordinary;
#endif
    __device__ __forceinline__ long long finished(long long i, HS_INDEX at) const
    {
        long long begin = 0;
        if (length < n) begin = (n >> 32 ? i / length : (unsigned)i / (unsigned)length) * length;
#if HS_KEYS
        if (!ordinary) {
            const HS_BITS size = keys[i] & (HS_BITS)HS_MAGNITUDE;
            if (size == 0 || size > (HS_BITS)HS_INFINITY) keys[i] = source[in_row ? begin + at : at];
        }
#endif
        return in_row ? at : at - begin;
    }
};

/* from: the n indices that the sort wrote. to: null, or receives the indices of the result, which count within the row.
 * turn: null, or the number of the sort's last pass; if it is from 1 to 255, this pass has done the work already, and
 * the kernel returns. length: the number of keys of a row. in_row: 1 if indices in `from` count within their row, 0 if
 * they count within the whole array. */
extern "C" __global__ void __launch_bounds__(HS_LANES) hs_finish(const HS_INDEX *from, long long *to,
#if HS_KEYS
                                                                 HS_BITS *keys, const HS_BITS *source,
#endif
                                                                 const unsigned *turn, long long n, long long length, int in_row)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* earlier kernels may still run */
#endif
    if (turn && *turn - 1u < 255u) return;
#if HS_KEYS
    hs_rows rows = {n, length, in_row, keys, source, false};
#else
    const hs_rows rows = {n, length, in_row};
#endif
    for (long long tile = (long long)blockIdx.x * HS_TILE; tile < n; tile += (long long)gridDim.x * HS_TILE) {
        const bool whole = tile + HS_TILE <= n && ((unsigned long long)to & 15) == 0 && (unsigned long long)from % sizeof(hs_two) == 0;
        hs_two at[HS_PAIRS];
        if (whole)
#pragma unroll
            for (int j = 0; j < HS_PAIRS; j++) at[j] = ((const hs_two *)(from + tile))[j * HS_LANES + threadIdx.x];
#if HS_KEYS
        /* if two sorted keys have the same sign and are neither zeros nor NaNs, no key between them is a zero or a
         * NaN */
        const HS_BITS one = keys[tile], last = keys[min(tile + HS_TILE, n) - 1], magnitudes = (HS_BITS)HS_MAGNITUDE;
        const HS_BITS least = min(one & magnitudes, last & magnitudes), most = max(one & magnitudes, last & magnitudes);
        rows.ordinary = length >= n && (one > magnitudes) == (last > magnitudes) && least != 0 && most <= (HS_BITS)HS_INFINITY;
        __syncthreads(); /* all lanes have read the first and the last key before any key changes */
#endif
        if (whole)
#pragma unroll
            for (int j = 0; j < HS_PAIRS; j++) {
                const long long i = tile + 2 * (j * HS_LANES + (int)threadIdx.x);
                const longlong2 both = {rows.finished(i, at[j].x), rows.finished(i + 1, at[j].y)};
                if (to) *(longlong2 *)(to + i) = both;
            }
        else
            for (long long i = tile + threadIdx.x; i < tile + HS_TILE && i < n; i += HS_LANES) {
                const long long own = rows.finished(i, from[i]);
                if (to) to[i] = own;
            }
    }
}
