import type { Bound, SorterOptions } from "./hs_webgpu_player.js";

export interface SplatSorterOptions extends Omit<SorterOptions, "value" | "order" | "algorithm"> {
    /** 16 (default): the depths from near to far are rounded down to 65535 even steps; the sort takes half the passes.
     * 32: the depths are compared as floats. */
    keyBits?: 16 | 32;
}

export interface SplatCall {
    /** A buffer with three floats for each splat; its usage has STORAGE. */
    positions: Bound;
    /** The bytes from a position to the next, a multiple of 4; 16 by default. */
    stride?: number;
    /** The bytes before the first position, a multiple of 4. */
    offset?: number;
    /** The number of splats. */
    n: number;
    /** The matrix that transforms positions to coordinates of the camera, which looks along -z: 16 numbers, column
     * after column. */
    view: ArrayLike<number>;
    /** The least depth of a visible splat, 0 or more; 0 by default. */
    near?: number;
    /** The greatest depth of a visible splat; no limit by default, which keys of 16 bits do not allow. */
    far?: number;
    /** "far-first" by default. */
    order?: "far-first" | "near-first";
    /** Receives n indices of splats, 32-bit words: first the visible splats, in order; then the others. */
    indexOut: Bound;
    /** Receives the number of visible splats, as one word, such as `instanceCount` of a draw.  Its offset
     * is a multiple of 4; its usage has COPY_DST. */
    countOut?: GPUBuffer | { buffer: GPUBuffer; offset?: number };
}

/** Sorts splats by depth on the GPU; equal depths keep their order, so that nothing flickers. */
export declare class SplatSorter {
    protected constructor();
    /** Choose an argsort of u32 keys and create its pipelines.
     *
     * Rejects with an Error of one sentence if no sort fits, or the device lacks what it needs. */
    static create(device: GPUDevice, options?: SplatSorterOptions): Promise<SplatSorter>;
    /** The greatest count of one call. */
    readonly maxN: number;
    /** A buffer whose first word is the count of the last recorded call. */
    readonly count: GPUBuffer;
    /** Compile the kernels that calls of up to n splats need, except those that are already compiled. */
    prepare(n?: number): Promise<void>;
    /** Record a sort into an encoder.  Nothing waits for the device.
     *
     * Throws an Error of one sentence, with nothing recorded, for a wrong call. */
    record(encoder: GPUCommandEncoder, call: SplatCall): void;
    /** Free the buffers; commands that use them must have been submitted. */
    destroy(): void;
}
