import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { startLaunch } from '@baton/isolation';
import { newId } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { MARK_VARIABLE } from '../script/orphan-guard';
import { managerEnv } from '../script/process-run';
import { makeRunDir, type RunDir, type ScriptSettings } from '../script/settings';
import { type ModuleLimits, type ModulePlugin, moduleHostFile } from './module-plugin';
import { WIRE_VARIABLE } from './protocol';

/** A started process of a plugin. */
export interface StartedProcess {
  child: ChildProcess & { pid: number };
  wire: Duplex;
  home: RunDir;
  /** Value of MARK_VARIABLE in the process and what it starts. */
  mark: string;
  group: { kill(): void; end(): void; isOutOfMemory(): boolean } | null;
}

/**
 * Starts the process of a plugin as the tenant's account: without the environment of the worker, with a fresh folder as its /tmp,
 * and with the code of the plugin read-only.
 * @throws FatalError, Error when it cannot be started
 */
export async function startModuleProcess(
  tenant: string,
  { folder, inspectPort = null }: ModulePlugin,
  settings: ScriptSettings,
  { heapMb }: ModuleLimits,
): Promise<StartedProcess> {
  const file = moduleHostFile(settings.assetsDir);
  if (!existsSync(file))
    throw new FatalError(`this worker runs no TypeScript plugins: ${file} is missing (npm run build)`);
  const home = await makeRunDir(settings.workRoot, settings.isolation.accountOf(tenant));
  const readable = [folder, dirname(file), join(settings.assetsDir, 'bin'), dirname(process.execPath)];
  const confinement = { tenant, tmp: home.tmp, writable: [home.path], readable };
  const options = nodeOptions(heapMb, inspectPort);
  // Another program than Node.js reads these options from its environment only.
  const javascript = settings.javascript ?? [process.execPath, ...options];
  // The wire comes after the descriptors of the isolation, whose number is known when the launch is.
  const mark = newId();
  const env = { ...settings.baseEnv, ...managerEnv(settings.managerUrl), TMPDIR: home.tmp };
  const command = {
    program: '/bin/sh',
    args: ['-c', WITH_WIRE, 'sh', ...javascript, file, folder],
    cwd: home.cwd,
    env: { ...env, [MARK_VARIABLE]: mark, ...(settings.javascript && { NODE_OPTIONS: options.join(' ') }) },
  };
  let group: StartedProcess['group'] = null;
  try {
    const launch = settings.isolation.launch(command, confinement);
    group = launch.group;
    const descriptor = FIRST_FD + launch.descriptors.length + (launch.group ? 1 : 0);
    launch.env[WIRE_VARIABLE] = String(descriptor);
    const child = startLaunch(launch, ['ignore', 'pipe', 'pipe'], 'with-wire');
    child.on('error', () => undefined);
    if (child.pid === undefined) throw new Error('the process of the plugin did not start');
    const wire = child.stdio[descriptor] as Duplex;
    return { child: child as StartedProcess['child'], wire, home, mark, group };
  } catch (error) {
    group?.end();
    await home.remove();
    throw error;
  }
}

/** Whoever reaches the port runs code as the tenant: the worker allows it only where its configuration says so. */
const nodeOptions = (heapMb: number, inspectPort: number | null): string[] => [
  `--max-old-space-size=${heapMb}`,
  ...(inspectPort === null ? [] : [`--inspect=127.0.0.1:${inspectPort}`]),
];

const FIRST_FD = 3;
/** Begins with a shell, like most operations: the isolation puts its limits into the same shell. */
const WITH_WIRE = 'exec "$@"';
