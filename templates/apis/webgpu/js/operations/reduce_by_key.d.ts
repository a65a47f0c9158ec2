    static create(
        device: GPUDevice,
        key: KeyType,
        options?: Omit<SorterOptions, "value"> & { value?: "none" | "u32" | "i32" | "f32" },
    ): Promise<ReduceByKey>;
