export type KeyType =
    | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f16" | "bf16" | "f32" | "f64" | "bool";

/** What moves along with a key: an element of 4, 8 or 16 bytes, or the index that the key had (an argsort). */
export type ValueType =
    | "none" | "v4" | "v8" | "v16" | 4 | 8 | 16 | "u32" | "i32" | "f32" | "u64" | "i64" | "f64"
    | "index" | "index64" | "packed";

export type Order = "ascending" | "descending";

/** A buffer with the usage STORAGE, from an offset that is a multiple of 256. */
export type Bound = GPUBuffer | { buffer: GPUBuffer; offset?: number; size?: number };

/** The facts of a sort. */
export interface SortFacts {
    readonly name: string;
    readonly algorithm: string;
    readonly kind: string;
    readonly bits: number;
    readonly value: string;
    /** Whether it also sorts signed and float keys, and in descending order. */
    readonly transform: boolean;
    /** Whether it sorts by a range of bits. */
    readonly range: boolean;
    /** Whether it takes a count from device memory. */
    readonly counted: boolean;
    /** The lanes of subgroups that kernels use; above 1, the device needs the feature "subgroups", and no narrower ones. */
    readonly subgroups: number;
    /** Whether it is for adapters that run on a CPU. */
    readonly fallback: boolean;
}

/** The module of a sort: its facts, its plan, and its kernels as WGSL. */
export interface Sort extends SortFacts {
    readonly wgsl: string;
}

/** A sort whose module is loaded when it is chosen. */
export interface ListedSort extends SortFacts {
    load(): Promise<{ default: Sort }>;
}

export interface SorterOptions {
    /** "none" by default. */
    value?: ValueType;
    /** The order of calls that give none; "ascending" by default. */
    order?: Order;
    /** The algorithm by name; by default "auto" if there is such a sort. */
    algorithm?: string;
    /** The greatest count of all calls; kernels that only more keys need are not compiled. */
    maxN?: number;
    /** The sorts to choose from; by default, all of the bundle. */
    sorts?: readonly (Sort | ListedSort)[];
}

export interface SortCall {
    /** The keys; sorted in place without keysOut. */
    keys: Bound;
    keysOut?: Bound;
    /** The values, in place if the keys are; argsorts have only valuesOut. */
    values?: Bound;
    valuesOut?: Bound;
    /** How many keys, with `count` the greatest possible number; by default as many as the buffer of keys holds. */
    n?: number;
    /** A buffer with the number of keys as its first 32-bit word; min(count, n) keys are sorted. */
    count?: Bound;
    order?: Order;
    /** The first bit to sort by, of the ordered bits of a key. */
    beginBit?: number;
    /** The bit after the last one to sort by. */
    endBit?: number;
    /** Of an argsort: leave keys as they are, and write indices only. */
    discardKeys?: boolean;
    /** As in GPUComputePassDescriptor; the sort may take two passes: the first begins, the last ends. */
    timestampWrites?: GPUComputePassTimestampWrites;
}

/** Sorts arrays in GPU buffers. */
export declare class Sorter {
    protected constructor();
    /** Choose a sort for a type of keys, and create its pipelines, in parallel.
     *
     * Rejects with an Error of one sentence if no sort fits, or the device lacks what it needs. */
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Sorter>;
    /** The greatest count that one call sorts. */
    readonly maxN: number;
    /** The name of the sort: target and file. */
    readonly name: string;
    /** The bytes of device memory that the sorter keeps for sorts in place of up to n keys. */
    scratchBytes(n: number): number;
    /** Record a sort into an encoder.  Nothing waits for the device.
     *
     * Throws an Error of one sentence, with nothing recorded, for a wrong call. */
    sort(encoder: GPUCommandEncoder, call: SortCall): void;
    /** Free the buffers of the sorter; commands that use them must have been submitted. */
    destroy(): void;
}
