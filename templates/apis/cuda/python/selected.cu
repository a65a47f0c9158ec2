/* After a selection, or after a sort of all rows: the indices of the first k keys of each row, and the bits of zeros
 * and NaNs before the selection.
 *
 * Defined before: HS_BITS, the type of keys as unsigned numbers; HS_FILL, the key beyond the end of a row; HS_FLOATS,
 * whether keys are floats, then HS_MAGNITUDE and HS_INFINITY, the bits of all numbers without sign, and of infinity. */
#define HS_LANES 256

static __device__ __forceinline__ bool hs_special(HS_BITS key)
{
#if HS_FLOATS
    const HS_BITS size = key & (HS_BITS)HS_MAGNITUDE;
    return size == 0 || size > (HS_BITS)HS_INFINITY;
#else
    return false;
#endif
}

/* from, keys_from: indices and keys, in rows of `stride`.
 * order: null, or for each of the n results the place of its index in the row of `from`.
 * to, keys: the n results, k for each row.  to null: the indices stay, and only zeros and NaNs of `keys` change.
 * source: the keys before the selection, in rows of `length` keys.
 * lengths: null, or the number of keys of each row that count; an index beyond is -1 in the result. */
extern "C" __global__ void __launch_bounds__(HS_LANES)
    hs_selected(const long long *from, const long long *order, long long *to, const HS_BITS *keys_from, HS_BITS *keys,
                const HS_BITS *source, const unsigned *lengths, long long n, long long k, long long stride, long long length)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* the kernels ahead may still run */
#endif
    for (long long i = (long long)blockIdx.x * HS_LANES + threadIdx.x; i < n; i += (long long)gridDim.x * HS_LANES) {
        if (!to && !hs_special(keys[i])) continue;
        const long long row = n >> 32 ? i / k : (unsigned)i / (unsigned)k, begin = row * stride, place = i - row * k;
        const long long at = from[begin + (order ? order[i] : place)];
        const bool beyond = (unsigned long long)at >= (lengths ? lengths[row] : length);
        const HS_BITS key = keys_from[begin + place];
        keys[i] = beyond ? (HS_BITS)HS_FILL : hs_special(key) ? source[row * length + at] : key;
        if (to) to[i] = beyond ? -1 : at;
    }
}
