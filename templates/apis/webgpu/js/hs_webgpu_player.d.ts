export type KeyType =
    | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f16" | "bf16" | "f32" | "f64" | "bool";

/** The value that moves with each key: an element of 4, 8 or 16 bytes, or the original index of the key (an argsort).
 * "packed": keys and values are the upper and lower halves of 64-bit words. */
export type ValueType =
    | "none" | "v4" | "v8" | "v16" | 4 | 8 | 16 | "u32" | "i32" | "f32" | "u64" | "i64" | "f64"
    | "index" | "index64" | "packed";

export type Order = "ascending" | "descending";

/** A buffer with the usage STORAGE, or a part of one whose offset is a multiple of 256. */
export type Bound = GPUBuffer | { buffer: GPUBuffer; offset?: number; size?: number };

/** The facts of a sort. */
export interface SortFacts {
    readonly name: string;
    readonly algorithm: string;
    readonly kind: string;
    readonly bits: number;
    readonly value: string;
    /** True if the sort also takes signed and float keys, and descending order. */
    readonly transform: boolean;
    /** True if a scan adds floats, false if it adds integers. */
    readonly floats: boolean;
    /** True if calls may sort by a range of bits. */
    readonly range: boolean;
    /** True if calls may take the count from device memory. */
    readonly counted: boolean;
    /** The number of lanes of the subgroups that kernels use.  If it is more than 1, the device needs the feature
     * "subgroups", and subgroups with at least as many lanes. */
    readonly subgroups: number;
    /** True if the sort is for adapters that run on a CPU. */
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
    /** The order of calls that do not set `order`; "ascending" by default. */
    order?: Order;
    /** The algorithm by name; by default "auto" if there is such a sort. */
    algorithm?: string;
    /** The greatest count of any call.  Kernels that only greater counts need are not compiled. */
    maxN?: number;
    /** A page starts faster with a small `firstN`: before `create` resolves, only the kernels for counts up to firstN
     * are compiled.  The others are compiled when `prepare` or a call needs them. */
    firstN?: number;
    /** The sorts to choose from; by default, all sorts of the bundle. */
    sorts?: readonly (Sort | ListedSort)[];
}

/** The members that sorters and other operations share. */
export declare class Player {
    protected constructor();
    /** The greatest count of one call. */
    readonly maxN: number;
    /** The name of the sort: target and file. */
    readonly name: string;
    /** Compile the kernels that calls of up to n elements need, except those that are already compiled; n is `maxN` by
     * default. */
    prepare(n?: number): Promise<void>;
    /** Free the buffers; commands that use them must have been submitted. */
    destroy(): void;
}
