    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Digest>;
    /** Compare the digests before and after a sort, and return the faults: docs/guides/digest.md explains them.
     * `stable`: true if the values ascended before the sort; stability is then checked too. */
    static faults(
        before: ArrayLike<number>,
        after: ArrayLike<number>,
        options?: { stable?: boolean },
    ): ("order" | "keys" | "values" | "stable" | "beyond")[];
