/* Runs before a selection from rows, if the call has an array of row lengths.  Copies the rows, but replaces the keys
 * beyond a row's length by the key that is last in order.
 *
 * Macros that the program defines: HS_BITS, the unsigned type of a key's width; HS_FILL, the last key in order. */
#define HS_LANES 256

/* from, to: n keys in rows of `length` keys.  starts: null, or for each row the position of the first key that counts,
 * which becomes the first key of the copy.  lengths: for each row the number of keys that count, at most up to the end
 * of the row. */
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
