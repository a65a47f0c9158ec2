export class SegmentedSorter extends SegmentedSorterCalls {
    /* `count` of a segmented sort is a number of segments, not of keys. */
    _ordered(call) {
        return super._ordered({ ...call, count: undefined });
    }

    _numbers(call, n, spans) {
        const number = whole("segments", call.segments, 0, 2 ** 31 - 2), rows = !spans.other, used = this._used();
        for (const [role, name] of [["other_values", "ends"], ["count", "count"]])
            if (spans[role] && !used.has(role))
                refuse(`${name}: the segmented sort was generated without (--feature segment-${name})`);
        const apart = used.has("other_values");
        if (apart && rows !== !spans.other_values) refuse("offsets and ends: give both, or neither for equal rows");
        if (rows && n && (!number || n % number))
            refuse(`segments: ${n} keys are not ${number} equal rows; give offsets`);
        return { number, bounded: !!spans.count, flags: rows ? ROWS : 0, bytes: apart && { other: 4 * number } };
    }
}
