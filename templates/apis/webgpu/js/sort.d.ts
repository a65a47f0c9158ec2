import type { Sort } from "./hs_webgpu.js";

declare const sort: Sort;
export default sort;
