// Cost of isolation for a script: the same program started under each isolation that works here and under none, in turns.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  chooseIsolation,
  type Isolation,
  type IsolationName,
  NoIsolationError,
  startLaunch,
} from '@baton/isolation';
import { systemClock } from '@baton/kernel';
import { columns, type Plan } from '../harness/report';
import { median, rounded } from '../harness/statistics';

const KINDS: readonly IsolationName[] = ['none', 'bubblewrap', 'namespaces', 'uid'];
const STARTS = { quick: 60, full: 150 };
/** Warm-up runs of each, which do not count: afterwards the files are in the page cache. */
const WARM_UP = 10;

export async function scripts(plan: Plan): Promise<object> {
  // The path to the folders must be open to every account of an operation.
  const root = mkdtempSync('/var/tmp/baton-bench-scripts-');
  chmodSync(root, 0o711);
  try {
    const kinds = KINDS.flatMap((mode) => isolationOf(mode, root) ?? []);
    const times = new Map(kinds.map(({ name }) => [name, [] as number[]]));
    const starts = WARM_UP + (plan.isQuick ? STARTS.quick : STARTS.full);
    for (let i = 0; i < starts; i++)
      for (const isolation of kinds) {
        const ms = await startMs(isolation, root);
        if (i >= WARM_UP) times.get(isolation.name)!.push(ms);
      }
    const bare = median(times.get('none')!);
    plan.say(columns('start and end of a script', 'ms', 'more than none'));
    const results: Record<string, object> = {};
    for (const [name, all] of times) {
      const ms = rounded(median(all));
      const more = rounded(median(all) - bare);
      results[name] = { ms, more };
      plan.say(columns(name, ms, more));
    }
    return results;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Returns the isolation; null: it does not work here. */
function isolationOf(mode: IsolationName, root: string): Isolation | null {
  const workRoot = join(root, mode);
  const assetsDir = join(workRoot, 'assets');
  mkdirSync(join(assetsDir, 'bin'), { recursive: true });
  // A file that operations can see; the probe of each isolation looks for it.
  writeFileSync(join(assetsDir, 'bin/ctx'), '');
  try {
    return chooseIsolation({
      mode,
      workRoot,
      assetsDir,
      uids: { first: 320_000, last: 320_100 },
      account: null,
      limits: { processes: 64, openFiles: 256, fileBytes: 1e8, memoryBytes: null },
      shared: [],
      hidden: [],
      path: process.env.PATH ?? '',
    }).isolation;
  } catch (error) {
    if (error instanceof NoIsolationError) return null;
    throw error;
  }
}

async function startMs(isolation: Isolation, root: string): Promise<number> {
  const run = mkdtempSync(join(root, isolation.name, 'run-'));
  const tmp = join(run, 'tmp');
  mkdirSync(tmp);
  for (const folder of [join(root, isolation.name), run, tmp]) chmodSync(folder, 0o777);
  const command = {
    program: '/bin/sh',
    args: ['-c', 'exit 0'],
    cwd: run,
    env: { PATH: process.env.PATH ?? '' },
  };
  const confinement = { tenant: 'default_tenant', tmp, writable: [run], readable: [] };
  const began = systemClock.monotonic();
  const child = startLaunch(isolation.launch(command, confinement), ['ignore', 'ignore', 'ignore']);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const ms = systemClock.monotonic() - began;
  rmSync(run, { recursive: true, force: true });
  if (code !== 0) throw new Error(`a script under ${isolation.name} ended with ${code}`);
  return ms;
}
