    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Digest>;
    /** Return the faults between the words of a digest before a sort and after it; `stable`: values were ascending. */
    static faults(
        before: ArrayLike<number>,
        after: ArrayLike<number>,
        options?: { stable?: boolean },
    ): ("order" | "keys" | "values" | "stable" | "beyond")[];
