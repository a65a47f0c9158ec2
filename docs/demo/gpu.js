/* The device, and copies to and from its memory. */

const STORAGE = 128, COPY_SRC = 4, COPY_DST = 8, MAP_READ = 1; // of GPUBufferUsage

/** The device with what the sorts can use; throws an Error with a title and a text for people. */
export async function opened() {
  if (!globalThis.isSecureContext)
    throw problem("WebGPU needs a secure page.", "Open this page by https, or from localhost.");
  if (!navigator.gpu)
    throw problem("This browser has no WebGPU.", `The object navigator.gpu is missing. ${advice(navigator.userAgent)}`);
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter)
    throw problem("This browser found no GPU that it can use.", "WebGPU is there, but requestAdapter returned nothing: "
      + "the graphics driver may be missing or on the browser's block list.");
  const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredFeatures: ["subgroups"].filter((f) => adapter.features.has(f)),
    requiredLimits: { maxStorageBufferBindingSize, maxBufferSize },
  });
  return { adapter, device };
}

/** Which browser or flag brings WebGPU, for the browser of a user agent. */
export function advice(agent) {
  if (/Firefox\//.test(agent))
    return /Windows/.test(agent) ? "Firefox has it from 141 on." : "Set dom.webgpu.enabled to true in about:config, or use Chrome or Edge.";
  if (/iPhone|iPad/.test(agent)) return "Browsers on iOS and iPadOS have it from version 26 of the system on.";
  if (/Android/.test(agent)) return "Use Chrome 121 or later on Android 12 or later.";
  if (/Chrome\//.test(agent))
    return /Linux/.test(agent)
      ? "Switch on chrome://flags/#enable-unsafe-webgpu and chrome://flags/#enable-vulkan, then start the browser again."
      : "Use version 113 or later, and switch on hardware acceleration in the browser's settings.";
  return /Safari\//.test(agent) ? "Use Safari 26 or later, Chrome or Edge." : "Use a current version of Chrome, Edge, Safari or Firefox.";
}

export function problem(title, text) {
  return Object.assign(new Error(text), { title });
}

/** How people call the adapter. */
export function named({ info = {} }) {
  const words = [info.description || info.device, info.vendor, info.architecture].filter(Boolean);
  return [...new Set(words)].join(", ") || "a GPU that the browser does not name";
}

/** A storage buffer with the contents of a typed array, or of a number of bytes. */
export function buffer(device, content, usage = 0) {
  const bytes = typeof content === "number" ? content : content.byteLength;
  const made = device.createBuffer({
    size: Math.max(16, Math.ceil(bytes / 4) * 4),
    usage: STORAGE | COPY_SRC | COPY_DST | usage,
  });
  if (typeof content !== "number") device.queue.writeBuffer(made, 0, content);
  return made;
}

/** Copies of the first bytes of buffers, as ArrayBuffers, in the order of commands. */
export async function read(device, ...ranges) {
  const encoder = device.createCommandEncoder();
  const copies = ranges.map(([from, bytes]) => {
    const to = device.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
    encoder.copyBufferToBuffer(from, 0, to, 0, bytes);
    return to;
  });
  device.queue.submit([encoder.finish()]);
  await Promise.all(copies.map((to) => to.mapAsync(MAP_READ)));
  return copies.map((to) => {
    const data = to.getMappedRange().slice(0);
    to.destroy();
    return data;
  });
}
