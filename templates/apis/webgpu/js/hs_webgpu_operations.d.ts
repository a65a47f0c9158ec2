import { Player, type Bound, type KeyType, type Order, type SorterOptions } from "./hs_webgpu_player.js";

interface Timed {
    /** As in GPUComputePassDescriptor. */
    timestampWrites?: GPUComputePassTimestampWrites;
}

export interface DigestCall extends Timed {
    /** The keys. */
    keys: Bound;
    /** The values that go with them. */
    values?: Bound;
    /** Receives eight 32-bit words. */
    digest: Bound;
    /** How many; by default as many as the first buffer holds. */
    n?: number;
    /** The elements to cover; those from n on must only stay unchanged. */
    capacity?: number;
    /** The order that keys should have. */
    order?: Order;
    /** The first bit to compare by. */
    beginBit?: number;
    /** The bit after the last one. */
    endBit?: number;
}

/** Digests of arrays, by which a sort is verified on the device: docs/guides/digest.md. */
export declare class Digest extends Player {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Digest>;
    /** Return the faults between the words of a digest before a sort and after it; `stable`: values were ascending. */
    static faults(before: ArrayLike<number>, after: ArrayLike<number>, options?: { stable?: boolean }): ("order" | "keys" | "values" | "stable" | "beyond")[];
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: DigestCall): void;
}

export interface ScannerCall extends Timed {
    /** The rows. */
    elements: Bound;
    /** Their sums; without it, they replace the rows. */
    elementsOut?: Bound;
    /** How many rows; by default as many as the buffer holds. */
    n?: number;
}

/** Prefix sums of rows of `columns` elements, of each column for itself. */
export declare class Scanner extends Player {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions & { columns?: number; exclusive?: boolean }): Promise<Scanner>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: ScannerCall): void;
}

export interface SegmentedSorterCall extends Timed {
    /** The keys; sorted in place without keysOut. */
    keys: Bound;
    /** Where sorted keys go. */
    keysOut?: Bound;
    /** The values, in place if the keys are. */
    values?: Bound;
    /** Where they go. */
    valuesOut?: Bound;
    /** How many segments; with `count` the greatest possible number. */
    segments: number;
    /** Where each begins, and n: 32-bit words; without them, segments are rows of equal length. */
    offsets?: Bound;
    /** Where each ends, 32-bit words, in a sort with --feature segment-ends; then `offsets` has no last word n. */
    ends?: Bound;
    /** A buffer whose first 32-bit word is the number of segments (--feature segment-count). */
    count?: Bound;
    /** How many keys; by default as many as the first buffer holds. */
    n?: number;
    /** The order of this call. */
    order?: Order;
    /** The first bit to sort by, of the ordered bits of a key. */
    beginBit?: number;
    /** The bit after the last one to sort by. */
    endBit?: number;
}

/** Stable sorts of each segment of an array. */
export declare class SegmentedSorter extends Player {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<SegmentedSorter>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: SegmentedSorterCall): void;
}

export interface MergerCall extends Timed {
    /** The first array. */
    keys: Bound;
    /** The second one. */
    otherKeys: Bound;
    /** All of both, sorted. */
    keysOut: Bound;
    /** The values of the first. */
    values?: Bound;
    /** Those of the second. */
    otherValues?: Bound;
    /** Those of all. */
    valuesOut?: Bound;
    /** How many keys the first has; by default as many as its buffer holds. */
    n?: number;
    /** The same of the second. */
    otherN?: number;
    /** The order of all three. */
    order?: Order;
}

/** Merges of two sorted arrays; of equal keys, those of the first come first. */
export declare class Merger extends Player {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Merger>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: MergerCall): void;
}

export interface TopKCall extends Timed {
    /** The rows, one after the other. */
    keys: Bound;
    /** Receives rows * k keys. */
    keysOut: Bound;
    /** The values. */
    values?: Bound;
    /** Theirs, or the indices in the row. */
    valuesOut?: Bound;
    /** How many of each row. */
    k: number;
    /** How many rows of equal length; 1 by default. */
    rows?: number;
    /** How many; by default as many as the first buffer holds. */
    n?: number;
    /** The order of this call. */
    order?: Order;
}

/** The first k keys of each row; the greatest, unless the order is ascending. */
export declare class TopK extends Player {
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<TopK>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: TopKCall): void;
}

export interface GathererCall extends Timed {
    /** 32-bit indices; where one is beyond the table, nothing is written. */
    index: Bound;
    /** The items. */
    table: Bound;
    /** Receives n items. */
    out: Bound;
    /** How many; by default as many as the first buffer holds. */
    n?: number;
    /** The items of the table; by default as many as its buffer holds. */
    items?: number;
}

/** Gathers: out[i] = table[index[i]], items of `itemBytes` bytes, a multiple of 4. */
export declare class Gatherer extends Player {
    static create(device: GPUDevice, options?: SorterOptions & { itemBytes?: number }): Promise<Gatherer>;
    /** The bytes of an item. */
    readonly itemBytes: number;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: GathererCall): void;
}

export interface ReduceByKeyCall extends Timed {
    /** The keys. */
    keys: Bound;
    /** Receives the key of each run. */
    keysOut: Bound;
    /** Receives the number of runs, a 32-bit word. */
    groups: Bound;
    /** The values to reduce. */
    values?: Bound;
    /** Receives their sum, least or greatest for each run. */
    valuesOut?: Bound;
    /** Receives the keys of each run, 32-bit words. */
    counts?: Bound;
    /** Receives the index of the first key of each run. */
    firstIndices?: Bound;
    /** The sum by default. */
    reduction?: "sum" | "min" | "max";
    /** How many; by default as many as the first buffer holds. */
    n?: number;
    /** A buffer whose first 32-bit word is the number of keys; n is the greatest possible. */
    count?: Bound;
}

/** Reductions of runs of equal adjacent keys: docs/guides/reduce-by-key.md. */
export declare class ReduceByKey extends Player {
    static create(device: GPUDevice, key: KeyType, options?: Omit<SorterOptions, "value"> & { value?: "none" | "u32" | "i32" | "f32" }): Promise<ReduceByKey>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: ReduceByKeyCall): void;
}

export interface GroupByCall extends Omit<ReduceByKeyCall, "count"> {
    /** The order of the groups. */
    order?: Order;
}

/** Groups of equal keys of an array in any order: a stable sort and a reduction of the runs in one call. */
export declare class GroupBy extends Player {
    static create(device: GPUDevice, key: KeyType, options?: Omit<SorterOptions, "value"> & { value?: "none" | "u32" | "i32" | "f32" }): Promise<GroupBy>;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: GroupByCall): void;
}

/** A column of rows: its type, or a pair of that and its order. */
export type Column = KeyType | readonly [KeyType, Order];

/** A field of records: `stride` bytes from one record to the next, a multiple of 4 up to 256, and `offset` bytes of a record before
 * the field, 0 by default, a multiple of its bytes, or of 4. */
export interface Field {
    records: Bound;
    stride: number;
    offset?: number;
}

export interface PackerCall extends Timed {
    /** The columns, each with room for whole 32-bit words; several may be fields of the same records. */
    columns: readonly (Bound | Field)[];
    /** Receives a key for each row, in another GPUBuffer than the columns. */
    keysOut: Bound;
    /** How many rows; by default as many as the first column holds. */
    n?: number;
    /** The bit of all columns at which keys begin, a multiple of 32; 0 by default. */
    beginBit?: number;
}

/** Packs of 1 to 4 columns of at most 16 bytes into keys "u32" or "u64", the first column on top: docs/guides/columns.md. */
export declare class Packer extends Player {
    static create(device: GPUDevice, key: "u32" | "u64", options: Omit<SorterOptions, "value" | "order"> & { columns: readonly Column[] }): Promise<Packer>;
    /** Return the bytes of a row of columns of these types. */
    static bytesOf(columns: readonly Column[]): number;
    /** The bytes of all columns of a row. */
    readonly bytes: number;
    /** Return n, or by default the rows that the first of these columns holds. */
    rows(columns: readonly (Bound | Field)[], n?: number): number;
    /** Record a call into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong one. */
    record(encoder: GPUCommandEncoder, call: PackerCall): void;
}
