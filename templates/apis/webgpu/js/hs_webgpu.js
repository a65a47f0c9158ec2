import { DISCARD, Player, located, refuse, same, up } from "./hs_webgpu_player.js";

const NAMES = { source: "keys", destination: "keysOut", values: "values", values_out: "valuesOut", count: "count" };

/** Sorts arrays in GPU buffers by recording passes into the caller's command encoder. */
export class Sorter extends Player {
    /** Create a sorter: see hs_webgpu.d.ts. */
    static create(device, key, options = {}) {
        return this._create("sort", device, key, options);
    }

    /** Whether calls may choose the bits to sort by. */
    get ranged() {
        return this._plan.range;
    }

    /** The bytes of device memory that the sorter keeps for sorts in place of up to n keys. */
    scratchBytes(n) {
        return this._scratch(n) + up(n * this._plan.itemBytes, 4) + (this._valued ? n * this._plan.valueBytes : 0);
    }

    /** Record a sort: see hs_webgpu.d.ts. */
    sort(encoder, call = {}) {
        this._checked(call)?.(encoder);
    }

    /* What records a call, after all checks; nothing for no keys. */
    _checked(call) {
        const plan = this._plan, settled = this._ordered(call), { spans, length, inPlace } = this.#spans(call);
        const n = this._counted(length, settled.counted);
        if (n === 0) return null;
        const bytes = { source: n * plan.itemBytes, destination: n * plan.itemBytes, values: n * plan.valueBytes, values_out: n * plan.valueBytes, count: 4 };
        this._fits(spans, bytes, NAMES, n, (role) => role === "destination" || role === "values_out" || (inPlace && role !== "count"));
        const flags = settled.flags | (call.discardKeys ? DISCARD : 0);
        const checked = { ...settled, n, flags, spans, inPlace, discard: !!call.discardKeys };
        return (encoder) => this._record(encoder, checked, call.timestampWrites);
    }

    /* The buffers by role, n, and whether keys are sorted in place. */
    #spans(call) {
        const spans = {};
        for (const [role, name] of Object.entries(NAMES)) if (call[name]) spans[role] = located(name, call[name]);
        if (!spans.source) refuse("keys: there is no buffer");
        const length = call.n ?? Math.floor(spans.source.room / this._plan.itemBytes);
        for (const [out, from] of [["destination", "source"], ["values_out", "values"]])
            if (spans[out] && spans[from] && same(spans[out], spans[from])) delete spans[out];
        const inPlace = !spans.destination && !call.discardKeys, index = this._indexed;
        if (call.discardKeys && !index) refuse("discardKeys: only an argsort discards keys (--value index)");
        if (call.discardKeys && spans.destination) refuse("keysOut: discarded keys have no destination");
        if (!this._valued && spans.values) refuse("values: the sort was generated without values");
        if (this._valued && !spans.values) refuse("values: the sort moves values, which are not given");
        if (index && !spans.values_out) refuse("valuesOut: there is no buffer for the indices");
        if (!index && !this._valued && spans.values_out) refuse("valuesOut: the sort was generated without values");
        if (this._valued && inPlace === !!spans.values_out) refuse("keysOut and valuesOut: give both, or neither to sort in place");
        return { spans, length, inPlace };
    }
}
