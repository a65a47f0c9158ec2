export class TopK extends TopKCalls {
    static create(device, key, options) {
        return super.create(device, key, { order: "descending", ...options });
    }

    _numbers(call, n) {
        const number = whole("rows", call.rows ?? 1, 1, 2 ** 31 - 1);
        if (n % number) refuse(`rows: ${n} keys are not ${number} equal rows`);
        return { number, take: n ? whole("k", call.k, 1, n / number) : 0 };
    }
}
