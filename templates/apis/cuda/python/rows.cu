/* Copies a run of bytes of each of n records, in the order of the records or in that of an index.
 *
 * Defined before: HS_UNIT, the type that is copied at a time, of which all addresses and pitches are multiples. */

/* from, to: the first run before and after, and the units from each to the next.  units: of a run.  index: the record
 * of each result; null: its own. */
extern "C" __global__ void __launch_bounds__(256) hs_rows(const HS_UNIT *from, long long from_pitch, HS_UNIT *to,
                                                          long long to_pitch, const unsigned *index, long long units,
                                                          long long n)
{
    const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    const long long row = i >> 32 ? i / units : (unsigned)i / (unsigned)units, at = i - row * units;
    if (row < n) to[row * to_pitch + at] = from[(index ? (long long)index[row] : row) * from_pitch + at];
}
