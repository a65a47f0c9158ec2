/* Before a selection from rows with starts, or with the number of rows in device memory: the keys of each row that count. */
#define HS_LANES 256

/* n rows of `length` keys.
 * starts: null, or the place of the first key of each row that counts.  lengths: null, or the number of these keys.
 * count: null, or the number of rows that count; others are empty.
 * sizes: the number of keys of each row that count, none of which is beyond the row.
 * begins: null, or the index of the first of them, from the beginning of the call's rows; a call has `turn` rows. */
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
