import type { Column, Field } from "./hs_webgpu_operations.js";
import type { Bound, SorterOptions } from "./hs_webgpu_player.js";

export interface ColumnSorterOptions extends Omit<SorterOptions, "value" | "order"> {
    /** For each array of `values` of a call: the bytes of an item, a multiple of 4. */
    itemBytes?: readonly number[];
}

export interface ColumnSorterCall {
    /** The columns, the most significant first: arrays, or fields of records.  Each buffer has whole 32-bit words, and
     * is only read. */
    columns: readonly (Bound | Field)[];
    /** How many rows; by default as many as the first column holds. */
    n?: number;
    /** Receives the original indices of the rows in their new order, as 32-bit words. */
    indexOut?: Bound;
    /** The arrays whose items move with the rows, as many arrays as `itemBytes` has; they are only read. */
    values?: readonly Bound[];
    /** For each of `values`, the buffer that receives its items in the new order. */
    valuesOut?: readonly Bound[];
}

/** Stable sorts of the rows of tables by 1 to 4 key columns, which have at most 16 bytes a row:
 * docs/guides/columns.md. */
export declare class ColumnSorter {
    /** Choose packs, sorts and gathers for columns, and create their pipelines, in parallel.
     *
     * Rejects with an Error of one sentence if one is missing, or the device lacks what it needs. */
    static create(device: GPUDevice, columns: readonly Column[], options?: ColumnSorterOptions): Promise<ColumnSorter>;
    /** The greatest count of one call. */
    readonly maxN: number;
    /** Compile the kernels that calls of up to n rows need, except those that are already compiled. */
    prepare(n?: number): Promise<void>;
    /** Free the buffers; commands that use them must have been submitted. */
    destroy(): void;
    /** Record a sort into an encoder; throws an Error of one sentence, with nothing recorded, for a wrong call. */
    record(encoder: GPUCommandEncoder, call: ColumnSorterCall): void;
}
