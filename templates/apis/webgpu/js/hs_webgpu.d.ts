import { Player, type Bound, type KeyType, type Order, type SorterOptions } from "./hs_webgpu_player.js";

export type { Bound, KeyType, ListedSort, Order, Sort, SortFacts, SorterOptions, ValueType } from "./hs_webgpu_player.js";

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
export declare class Sorter extends Player {
    /** Choose a sort for a type of keys, and create its pipelines, in parallel.
     *
     * Rejects with an Error of one sentence if no sort fits, or the device lacks what it needs. */
    static create(device: GPUDevice, key: KeyType, options?: SorterOptions): Promise<Sorter>;
    /** Whether calls may choose the bits to sort by. */
    readonly ranged: boolean;
    /** The bytes of device memory that the sorter keeps for sorts in place of up to n keys. */
    scratchBytes(n: number): number;
    /** Record a sort into an encoder.  Nothing waits for the device.
     *
     * Throws an Error of one sentence, with nothing recorded, for a wrong call. */
    sort(encoder: GPUCommandEncoder, call: SortCall): void;
}
