export class Digest extends DigestCalls {
    /** Compare the digests before and after a sort; return which of order, keys, values and the rest are wrong. */
    static faults(before, after, { stable = false } = {}) {
        const unlike = (...at) => at.some((i) => before[i] !== after[i]);
        const faults = {
            order: after[4] !== 0,
            keys: unlike(0, 1, 7),
            values: unlike(2, 3),
            stable: stable && after[5] !== 0,
            beyond: unlike(6),
        };
        return Object.keys(faults).filter((name) => faults[name]);
    }

    _numbers(call, n) {
        return { number: whole("capacity", Math.max(n, call.capacity ?? n), n, this.maxN) };
    }
}
