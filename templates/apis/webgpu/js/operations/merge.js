export class Merger extends MergerCalls {
    /* The number of keys of an array: `n`, or by default as many as the buffer of the role holds. */
    #count(n, spans, role) {
        return n ?? Math.floor((spans[role]?.room ?? 0) / this._plan.itemBytes);
    }

    _length(call, spans) {
        return this.#count(call.n, spans, "source") + this.#count(call.otherN, spans, "other");
    }

    _numbers(call, n, spans) {
        return { number: whole("n", this.#count(call.n, spans, "source"), 0, n) };
    }
}
