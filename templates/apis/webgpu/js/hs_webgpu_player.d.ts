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
    /** Whether a scan adds floats. */
    readonly floats: boolean;
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
    /** Compile only what counts up to this one need before `create` resolves, and the rest when `prepare` or a call
     * needs it: for a short start of a page. */
    firstN?: number;
    /** The sorts to choose from; by default, all of the bundle. */
    sorts?: readonly (Sort | ListedSort)[];
}

/** What sorters and other operations have. */
export declare class Player {
    protected constructor();
    /** The greatest count of one call. */
    readonly maxN: number;
    /** The name of the sort: target and file. */
    readonly name: string;
    /** Compile what calls of up to n elements need, and is not compiled yet; n is `maxN` by default. */
    prepare(n?: number): Promise<void>;
    /** Free the buffers; commands that use them must have been submitted. */
    destroy(): void;
}
