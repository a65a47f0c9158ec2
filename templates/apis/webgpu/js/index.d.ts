import { Sorter as Runtime, type KeyType, type ListedSort, type SorterOptions } from "./hs_webgpu.js";
import * as columns from "./hs_webgpu_columns.js";
import * as operations from "./hs_webgpu_operations.js";

export type { Bound, KeyType, ListedSort, Order, Sort, SortCall, SorterOptions, ValueType } from "./hs_webgpu.js";

/** The sorts and other operations of this bundle: what each takes, and a function that loads its module. */
export declare const sorts: readonly ListedSort[];

/** The Sorter of hs_webgpu.js, for the sorts of this bundle; only the module of the chosen one is loaded. */
export declare class Sorter extends Runtime {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Sorter>;
}

/* The operations of hs_webgpu_operations.js in the same way. */
export declare class Digest extends operations.Digest {}
export declare class GroupBy extends operations.GroupBy {}
export declare class Merger extends operations.Merger {}
export declare class Packer extends operations.Packer {}
export declare class ReduceByKey extends operations.ReduceByKey {}
export declare class Scanner extends operations.Scanner {}
export declare class SegmentedSorter extends operations.SegmentedSorter {}
export declare class TopK extends operations.TopK {}
export declare class Gatherer extends operations.Gatherer {}

/* The sorter of hs_webgpu_columns.js. */
export declare class ColumnSorter extends columns.ColumnSorter {}
