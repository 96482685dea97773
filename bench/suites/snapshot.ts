// Memory of snapshots: creation and restore are streamed, so no process may need more memory for four times the data (ADR 0012).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '../../test/harness/fleet';
import { call } from '../../test/harness/session';
import { createDatabase, type Manager, startManager } from '../harness/manager';
import { memoryGrowth } from '../harness/memory-growth';
import { forgetPeakRss, peakRssMb } from '../harness/processes';
import type { Plan } from '../harness/report';
import { rounded } from '../harness/statistics';
import { seed } from '../seed/seed';
import { smallSizes } from '../seed/sizes';

/** Number of deployments, with ten node instances and 50 events each. */
const DEPLOYMENTS = { quick: [1_000, 4_000], full: [5_000, 20_000] };
/** Limits of the project: memory of a process, and its growth with the larger data set. */
const BARS = { memoryMb: 250, growth: 1.2 };
const LIMIT_MS = 600_000;
const POLL_MS = 200;
const ID = 'bench';

interface Run {
  deployments: number;
  seconds: Record<Step, number>;
  /** Peak memory during the step, MB, by process. */
  peakMb: Record<Step, Record<string, number>>;
}
type Step = 'create' | 'restore';
const STEPS: Step[] = ['create', 'restore'];

export async function snapshot(plan: Plan): Promise<object> {
  const results: Record<string, object> = {};
  for (const mode of plan.modes) {
    const runs: Run[] = [];
    for (const deployments of DEPLOYMENTS[plan.isQuick ? 'quick' : 'full'])
      runs.push(await ofSize(plan, mode, deployments));
    results[mode] = report(plan, mode, runs);
  }
  return results;
}

/** Measures one size with its own manager and database: memory left from the previous size would count otherwise. */
async function ofSize(plan: Plan, mode: Mode, deployments: number): Promise<Run> {
  const database = await createDatabase();
  const blobs = mkdtempSync(join(tmpdir(), 'baton-bench-blobs-'));
  const env = { BATON_BLOBS: blobs };
  try {
    await seed(database.url, { ...smallSizes, deployments }, () => undefined, env);
    const manager = await startManager({ mode, workers: 1, databaseUrl: database.url, env });
    try {
      const created = await measured(manager, () => create(manager));
      const restored = await measured(manager, () => restore(manager));
      const { rows } = await manager.pool.query(
        `select count(*)::int as n from deployments.deployments where id <> 'proto'`,
      );
      if (rows[0].n !== deployments)
        throw new Error(`${rows[0].n} deployments after the restore, not ${deployments}`);
      plan.say(
        `  ${mode}, ${deployments} deployments: created in ${created.seconds} s, restored in ${restored.seconds} s`,
      );
      return {
        deployments,
        seconds: { create: created.seconds, restore: restored.seconds },
        peakMb: { create: created.peakMb, restore: restored.peakMb },
      };
    } finally {
      await manager.stop();
    }
  } finally {
    await database.drop();
    rmSync(blobs, { recursive: true, force: true });
  }
}

async function measured(
  manager: Manager,
  work: () => Promise<void>,
): Promise<{ seconds: number; peakMb: Record<string, number> }> {
  const pids = manager.pids();
  for (const pid of pids.values()) forgetPeakRss(pid);
  const begin = performance.now();
  await work();
  const seconds = rounded((performance.now() - begin) / 1000);
  return { seconds, peakMb: Object.fromEntries([...pids].map(([name, pid]) => [name, peakRssMb(pid)])) };
}

async function create(manager: Manager): Promise<void> {
  const { id } = await call(manager.client, 'createSnapshot', { snapshot_id: ID }, {});
  await ended(manager, id);
}

async function restore(manager: Manager): Promise<void> {
  const { id } = await call(manager.client, 'restoreSnapshot', { snapshot_id: ID }, { force: true });
  await ended(manager, id);
}

/** Waits for the end through the API instead of the database: a restore replaces the database's content. */
async function ended(manager: Manager, id: string): Promise<void> {
  for (const until = performance.now() + LIMIT_MS; performance.now() < until; await pause(POLL_MS)) {
    const found = await call(manager.client, 'getExecution', { executionId: id }).catch(() => null);
    if (found?.status === 'terminated') return;
    if (found?.status === 'failed' || found?.status === 'cancelled')
      throw new Error(`${found.status}: ${found.error}`);
  }
  throw new Error(`execution ${id} did not end within ${LIMIT_MS / 1000} s`);
}

function report(plan: Plan, mode: Mode, runs: Run[]): object {
  return { bars: BARS, ...memoryGrowth(plan, `snapshot, ${mode}`, STEPS, runs), runs };
}
