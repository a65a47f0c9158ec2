    static create(device: GPUDevice, options?: SorterOptions & { itemBytes?: number }): Promise<Gatherer>;
    /** The bytes of an item. */
    readonly itemBytes: number;
