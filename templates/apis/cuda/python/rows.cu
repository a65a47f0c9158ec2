/* Copies some adjacent bytes of each of n records.  Result i is from record i or, with an array of indices, from record
 * index[i].
 *
 * A macro that the program defines: HS_UNIT, the type that is copied at a time.  All addresses and pitches are
 * multiples of its size. */

/* from, to: the first copied byte of the first record in the source, and of the result. from_pitch, to_pitch: the
 * number of units from one record to the next. units: the number of units to copy of each record. index: for each
 * result the number of its record; null if result i is from record i. */
extern "C" __global__ void __launch_bounds__(256) hs_rows(const HS_UNIT *from, long long from_pitch, HS_UNIT *to,
                                                          long long to_pitch, const unsigned *index, long long units,
                                                          long long n)
{
    const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    const long long row = i >> 32 ? i / units : (unsigned)i / (unsigned)units, at = i - row * units;
    if (row < n) to[row * to_pitch + at] = from[(index ? (long long)index[row] : row) * from_pitch + at];
}
