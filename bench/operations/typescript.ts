import { systemClock } from '@baton/kernel';
import { createModuleProcesses } from '@baton/plugin-runtime';
import { type Ground, moduleFolder, type Part } from './part';

const CODE = "module.exports = { name: 'bench', version: '1.0.0', operations: { noop: () => 1 } };\n";

/** An operation that does nothing: in the worker's process, and in a warm process of its plugin. */
export function typescriptParts(ground: Ground): Part[] {
  const folder = moduleFolder(ground.root, 'warm', CODE);
  ground.deps.operations = new Map([['in-process', () => 1]]);
  ground.deps.modules ??= createModuleProcesses(ground.deps.scripts);
  return [
    { name: 'TypeScript, in the worker', atOnce: 20, run: () => ground.operation({ mapping: 'in-process' }) },
    {
      name: 'TypeScript, own process',
      atOnce: 20,
      run: () => ground.operation({ mapping: 'noop' }, { installedPlugin: async () => moduleOf(folder) }),
    },
  ];
}

const moduleOf = (folder: string) => ({ kind: 'module' as const, folder, secrets: [], properties: {} });

/** Milliseconds of the first operation of a plugin without a process. */
export async function coldMs(ground: Ground, number: number): Promise<number> {
  const folder = moduleFolder(ground.root, `cold-${number}`, CODE);
  const began = systemClock.monotonic();
  await ground.operation({ mapping: 'noop' }, { installedPlugin: async () => moduleOf(folder) });
  return systemClock.monotonic() - began;
}
