export class Scanner extends ScannerCalls {
    static create(device, key, { columns = 1, exclusive = false, ...options } = {}) {
        return super.create(device, key, { algorithm: `scan-x${columns}${exclusive ? "ex" : ""}`, ...options });
    }
}
