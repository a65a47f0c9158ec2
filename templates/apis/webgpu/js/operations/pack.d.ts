    static create(
        device: GPUDevice,
        key: "u32" | "u64",
        options: Omit<SorterOptions, "value" | "order"> & { columns: readonly Column[] },
    ): Promise<Packer>;
    /** Return the bytes of a row of columns of these types. */
    static bytesOf(columns: readonly Column[]): number;
    /** The bytes of all columns of a row. */
    readonly bytes: number;
    /** Return n, or by default the rows that the first of these columns holds. */
    rows(columns: readonly (Bound | Field)[], n?: number): number;
