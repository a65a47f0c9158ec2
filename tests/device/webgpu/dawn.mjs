/* A device of Dawn, in node: lavapipe where VK_DRIVER_FILES names it. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Returns {adapter, device}; `folder` has node_modules. */
export async function opened(folder, features = ["subgroups"]) {
    const path = createRequire(join(folder, "package.json")).resolve("webgpu");
    const { create, globals } = await import(pathToFileURL(path));
    Object.assign(globalThis, globals);
    globalThis.hs_gpu = create(["backend=vulkan"]); // kept: a collected instance ends its devices
    const adapter = await globalThis.hs_gpu.requestAdapter();
    if (!adapter) throw new Error("Dawn finds no Vulkan device");
    const device = await adapter.requestDevice({ requiredFeatures: features.filter((f) => adapter.features.has(f)) });
    return { adapter, device };
}

/** Returns what a buffer holds, as bytes. */
export async function read(device, buffer, bytes) {
    const to = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, to, 0, bytes);
    device.queue.submit([encoder.finish()]);
    await to.mapAsync(GPUMapMode.READ);
    const copy = new Uint8Array(to.getMappedRange().slice(0));
    to.destroy();
    return copy;
}

/** Returns a GPU buffer with the bytes of a typed array from `offset` on, and `more` bytes of 0xa5 around. */
export function buffer(device, array, { offset = 0, more = 0, usage = 0 } = {}) {
    const size = Math.ceil((offset + array.byteLength + more) / 4) * 4 || 4;
    const made = device.createBuffer({
        size,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST | usage,
        mappedAtCreation: true,
    });
    const bytes = new Uint8Array(made.getMappedRange());
    bytes.fill(0xa5);
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    made.unmap();
    return made;
}
