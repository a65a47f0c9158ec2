const REDUCTIONS = ["sum", "min", "max"], REDUCED = { u32: 0, i32: 1, f32: 2 };

export class ReduceByKey extends ReduceByKeyCalls {
    #value = 0;

    static async create(device, key, { value = "none", ...options } = {}) {
        if (value !== "none" && !(value in REDUCED)) refuse(`value: ${shown(value)} is neither u32, i32 nor f32`);
        const made = await super.create(device, key, { value, ...options });
        made.#value = REDUCED[value] ?? 0;
        return made;
    }

    _numbers(call, n, spans) {
        const reduction = REDUCTIONS.indexOf(call.reduction ?? "sum");
        const flags = (spans.other ? 16 : 0) | (spans.other_values ? 32 : 0);
        const counted = spans.count && n ? DEVICE_COUNT : 0; // steps that pass this number to kernels add no flags
        if (reduction < 0) refuse(`reduction: ${shown(call.reduction)} is neither sum, min nor max`);
        return { number: reduction | (this.#value << 2) | flags | counted };
    }
}
