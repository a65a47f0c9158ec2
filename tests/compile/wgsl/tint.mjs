// Make pipelines of all kernels in WGSL files through Dawn; the last line is a JSON object of problems by file.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [packages, ...files] = process.argv.slice(2);
const { create } = createRequire(packages + '/')('webgpu');
const gpu = create([]);
const adapter = await gpu.requestAdapter();
const subgroups = adapter.features.has('subgroups');
const device = await adapter.requestDevice({
  requiredFeatures: subgroups ? ['subgroups'] : [],
  requiredLimits: { maxComputeWorkgroupStorageSize: 32768, maxStorageBuffersPerShaderStage: 10 },
});
const problems = {};
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const code = /\bsubgroup/.test(text) ? `enable subgroups;\n${text}` : text;
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  for (const [, entryPoint] of code.matchAll(/@workgroup_size\(\d+\)\s+fn (\w+)/g))
    device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint } });
  const error = await device.popErrorScope();
  if (messages.length || error) problems[file] = [...messages.map((m) => m.message), error?.message ?? ''].join('\n').slice(0, 2000);
}
console.log(JSON.stringify(problems));
process.exit(0); // a device keeps node alive
