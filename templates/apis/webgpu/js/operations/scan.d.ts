    static create(
        device: GPUDevice,
        key: KeyType,
        options?: SorterOptions & { columns?: number; exclusive?: boolean },
    ): Promise<Scanner>;
