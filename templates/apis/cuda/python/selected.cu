/* Runs after a selection, or after a sort of all rows. Stores the indices of the first k keys of each row. Also stores
 * the entries that a look-up table has at these indices. Restores the original bits of zeros and NaNs.
 *
 * Macros that the program defines: HS_BITS, the unsigned type of a key's width; HS_FILL, the key beyond the end of a
 * row; HS_FLOATS, 1 if keys are floats; HS_ENTRY, the type of entries.  With floats, also HS_MAGNITUDE, all bits of a
 * key but its sign, and HS_INFINITY, the bits of infinity. */
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
 * order: null, or for each of the n results the position of its index in the row of `from`.
 * to, keys: the n results, k for each row.  If `to` is null, no indices are stored; if `entries` is null
 * as well, only zeros and NaNs of `keys` change.
 * source: the keys before the selection, in rows of `length` keys.
 * starts: null, or for each row the position in the row that index 0 means.
 * lengths: null, or for each row the number of keys that count; an index beyond them becomes -1.
 * takes: null, or for each row the number of results; further results are HS_FILL and index -1.
 * entries: null, or receives the entry of each result in `table`, which has `size` entries.  The entry is -1 for index
 * -1 and beyond the table.
 * table_starts: null, or for each row the position of its entry 0.  If null, the table has the shape of `source`. */
extern "C" __global__ void __launch_bounds__(HS_LANES)
    hs_selected(const long long *from, const long long *order, long long *to, const HS_BITS *keys_from, HS_BITS *keys,
                const HS_BITS *source, const unsigned *starts, const unsigned *lengths, const unsigned *takes,
                const HS_ENTRY *table, const long long *table_starts, HS_ENTRY *entries, long long size, long long n,
                long long k, long long stride, long long length)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* earlier kernels may still run */
#endif
    for (long long i = (long long)blockIdx.x * HS_LANES + threadIdx.x; i < n; i += (long long)gridDim.x * HS_LANES) {
        if (!to && !entries && !hs_special(keys[i])) continue;
        const long long row = n >> 32 ? i / k : (unsigned)i / (unsigned)k, begin = row * stride, place = i - row * k;
        const long long at = from[begin + (order ? order[i] : place)];
        const long long first = row * length + (starts ? starts[row] : 0);
        const bool beyond = (unsigned long long)at >= (lengths ? lengths[row] : length) || (takes && place >= takes[row]);
        const HS_BITS key = keys_from[begin + place];
        keys[i] = beyond ? (HS_BITS)HS_FILL : hs_special(key) ? source[first + at] : key;
        if (to) to[i] = beyond ? -1 : at;
        if (entries) {
            const long long entry = (table_starts ? table_starts[row] : first) + at;
            entries[i] = beyond || (unsigned long long)entry >= size ? (HS_ENTRY)-1 : table[entry];
        }
    }
}
