export class Gatherer extends GathererCalls {
    #unit = 0;

    static async create(device, { itemBytes = 4, ...options } = {}) {
        if (!Number.isInteger(itemBytes) || itemBytes < 4 || itemBytes % 4)
            refuse(`itemBytes: ${shown(itemBytes)} is no multiple of 4`);
        const value = [16, 8, 4].find((unit) => itemBytes % unit === 0);
        const made = await super.create(device, "u32", { value, ...options });
        made.#unit = itemBytes;
        return made;
    }

    /** The bytes of an item. */
    get itemBytes() {
        return this.#unit;
    }

    _numbers(call, n, spans) {
        const room = Math.floor((spans.values?.room ?? 0) / this.#unit);
        const number = whole("items", call.items ?? room, 1, 2 ** 31 - 1), take = this.#unit / this._plan.valueBytes;
        if (Math.max(n, number) * take >= 2 ** 31)
            refuse("n and items: the table and the result have less than 2^31 values");
        return { number, take };
    }
}
