/* Before a selection from rows with lengths: a copy of the rows in which keys beyond the length are the last in order.
 *
 * Defined before: HS_BITS, the type of keys as unsigned numbers; HS_FILL, the last key in order. */
#define HS_LANES 256

/* from, to: n keys in rows of `length` keys.  starts: null, or the place of the first key of each row that counts.
 * lengths: the number of keys of each row that count, none of which is beyond the row.  A copied row begins at its start. */
extern "C" __global__ void __launch_bounds__(HS_LANES)
    hs_masked(const HS_BITS *from, HS_BITS *to, const unsigned *starts, const unsigned *lengths, long long n,
              long long length)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); /* earlier kernels may still run */
#endif
    for (long long i = (long long)blockIdx.x * HS_LANES + threadIdx.x; i < n; i += (long long)gridDim.x * HS_LANES) {
        const long long row = n >> 32 ? i / length : (unsigned)i / (unsigned)length;
        to[i] = i - row * length < lengths[row] ? from[i + (starts ? starts[row] : 0)] : (HS_BITS)HS_FILL;
    }
}
