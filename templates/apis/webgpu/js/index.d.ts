import { Sorter as Runtime, type KeyType, type ListedSort, type SorterOptions } from "./hs_webgpu.js";

export type { Bound, KeyType, ListedSort, Order, Sort, SortCall, SorterOptions, ValueType } from "./hs_webgpu.js";

/** The sorts of this bundle: what each takes, and a function that loads its module. */
export declare const sorts: readonly ListedSort[];

/** The Sorter of hs_webgpu.js, for the sorts of this bundle; only the module of the chosen one is loaded. */
export declare class Sorter extends Runtime {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Sorter>;
}
