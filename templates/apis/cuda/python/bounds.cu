/* Runs before a selection from rows, if the call has an array of row starts, or the number of rows in device memory.
 * Computes the range of keys in each row from which the selection selects; these keys count. */
#define HS_LANES 256

/* There are n rows of `length` keys.
 * starts: null, or for each row the position of the first key that counts.
 * lengths: null, or for each row the number of keys that count.
 * count: null, or the number of rows that count; further rows are empty.
 * sizes: receives for each row the number of keys that count, at most up to the end of the row.
 * begins: null, or receives for each row the index of the first key that counts.  The rows are selected from by several
 * calls, each for `turn` rows; an index counts from the first row of its call. */
extern "C" __global__ void __launch_bounds__(HS_LANES)
    hs_bounds(const unsigned *starts, const unsigned *lengths, const unsigned *count, unsigned *sizes, unsigned *begins,
              long long n, long long length, long long turn)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* earlier kernels may still run */
#endif
    for (long long row = (long long)blockIdx.x * HS_LANES + threadIdx.x; row < n; row += (long long)gridDim.x * HS_LANES) {
        const long long start = starts && starts[row] < length ? starts[row] : starts ? length : 0;
        const long long most = !count || row < *count ? length - start : 0;
        sizes[row] = lengths && lengths[row] < most ? lengths[row] : (unsigned)most;
        if (begins) begins[row] = (unsigned)(row % turn * length + start);
    }
}
