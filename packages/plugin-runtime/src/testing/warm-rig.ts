import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation, type IsolationName } from '@baton/isolation';
import { createWarmPython, type WarmLimits } from '../script/warm-python';
import { makeRig, type Rig } from './memory-host';

/** A Python that every account of an operation can start. */
const PYTHON = '/usr/bin/python3';

/** A rig with an installed plugin of these modules (name -> text), whose functions run warm. */
export function warmRig(
  modules: Record<string, string>,
  { mode = 'none', limits }: { mode?: IsolationName | 'auto'; limits?: WarmLimits } = {},
): Rig & { prefix: string } {
  const rig = makeRig();
  const { scripts } = rig.deps;
  const { root } = rig.host;
  chmodSync(root, 0o711);
  const prefix = join(root, 'plugin');
  execFileSync(PYTHON, ['-m', 'venv', '--without-pip', prefix]);
  const lib = join(prefix, 'lib', readdirSync(join(prefix, 'lib'))[0] ?? '', 'site-packages');
  mkdirSync(lib, { recursive: true });
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(lib, `${name}.py`), text);
  if (mode !== 'none')
    scripts.isolation = chooseIsolation({
      mode,
      workRoot: scripts.workRoot,
      assetsDir: scripts.assetsDir,
      // Not the uids of workers: a worker of another suite on this machine would restrict their network.
      uids: { first: 341_000, last: 341_100 },
      account: null,
      limits: { processes: 200, openFiles: 256, fileBytes: 50_000_000, memoryBytes: null },
      shared: [],
      hidden: [],
      path: process.env.PATH ?? '',
    }).isolation;
  rig.deps.warm = createWarmPython(limits);
  rig.host.installedPlugin = async () => ({ kind: 'python', prefix, properties: {} });
  rig.task.plugin = { ...rig.task.plugin, name: 'mine' };
  return Object.assign(rig, { prefix });
}
