// Memory of imports: the archive is streamed, so no process may need more memory for four times the data, nor for 10 GB (ADR 0048).
// Parts for --only: growth, large.
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { importRoutes } from '@baton/contracts/http/imports';
import type { Mode } from '../../test/harness/fleet';
import { call } from '../../test/harness/session';
import { type Manager, startManager } from '../harness/manager';
import { memoryGrowth } from '../harness/memory-growth';
import { forgetPeakRss, peakRssMb } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { rounded } from '../harness/statistics';
import { type EstateSize, writeArchive } from '../import/archive';

const DEPLOYMENTS = { quick: [300, 1_200], full: [3_500, 14_000] };
/** 10 GB: nearly all in archives of blueprints, since the other part measures records. */
const LARGE: EstateSize = { deployments: 3_500, blueprints: 240 };
/** As the images have it (deploy/Dockerfile). */
const OF_IMAGES = { MALLOC_ARENA_MAX: '2' };
/** Limits of the project: memory of a process, and its growth with the larger archive. */
const BARS = { memoryMb: 256, growth: 1.2 };
const LIMIT_MS = 3_600_000;
const MOST_BYTES = 20e9;
const POLL_MS = 200;

type Step = 'check' | 'apply';
const STEPS: Step[] = ['check', 'apply'];
interface Run extends EstateSize {
  /** MB of the pages before compression, and of the archive. */
  unpackedMb: number;
  archiveMb: number;
  seconds: Record<Step, number>;
  peakMb: Record<Step, Record<string, number>>;
}

export async function imports(plan: Plan): Promise<object> {
  const results: Record<string, object> = { bars: BARS };
  const isAsked = (part: string): boolean => new RegExp(plan.only ?? '').test(part);
  if (isAsked('growth'))
    for (const mode of plan.modes) {
      const runs: Run[] = [];
      for (const deployments of DEPLOYMENTS[plan.isQuick ? 'quick' : 'full'])
        runs.push(await ofSize(plan, mode, { deployments, blueprints: 0 }));
      results[mode] = { ...memoryGrowth(plan, `import, ${mode}`, STEPS, runs), runs };
    }
  if (isAsked('large') && !plan.isQuick)
    results.large = tellLarge(plan, await ofSize(plan, 'services', LARGE));
  return results;
}

function tellLarge(plan: Plan, run: Run): object {
  const most = (step: Step): [string, number] =>
    Object.entries(run.peakMb[step]).reduce((most, one) => (one[1] > most[1] ? one : most));
  const cells = STEPS.flatMap((step) => [`${step} ${most(step).join(' ')} MB`, `${run.seconds[step]} s`]);
  plan.say(columns(`import, ${rounded(run.archiveMb / 1000)} GB (bar ${BARS.memoryMb})`, ...cells));
  return { ...run, mostMb: Math.max(...STEPS.map((step) => most(step)[1])) };
}

/** Measures one size with its own manager: memory left from the previous size would count otherwise. */
async function ofSize(plan: Plan, mode: Mode, size: EstateSize): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-import-'));
  const path = join(folder, 'archive.zip');
  try {
    const bytes = await writeArchive(path, size);
    const manager = await startManager({
      mode,
      workers: 1,
      env: { ...OF_IMAGES, BATON_BLOBS: join(folder, 'blobs'), BATON_MAX_UPLOAD_BYTES: String(MOST_BYTES) },
    });
    try {
      let checked = { id: '', report_digest: '' };
      const check = await measured(manager, async () => {
        const made = await manager.client.upload(importRoutes[1], { content: createReadStream(path) });
        checked = await ended(manager, made.id, 'checked');
      });
      const apply = await measured(manager, async () => {
        await call(
          manager.client,
          'applyImport',
          { import_id: checked.id },
          { report_digest: checked.report_digest },
        );
        await ended(manager, checked.id, 'applied');
      });
      plan.say(
        `  ${mode}, ${size.deployments} deployments: checked in ${check.seconds} s, applied in ${apply.seconds} s`,
      );
      return {
        ...size,
        unpackedMb: rounded(bytes / 1e6),
        archiveMb: rounded(statSync(path).size / 1e6),
        seconds: { check: check.seconds, apply: apply.seconds },
        peakMb: { check: check.peakMb, apply: apply.peakMb },
      };
    } finally {
      await manager.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
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

async function ended(
  manager: Manager,
  id: string,
  state: string,
): Promise<{ id: string; report_digest: string }> {
  for (const until = performance.now() + LIMIT_MS; performance.now() < until; await pause(POLL_MS)) {
    const found = await call(manager.client, 'getImport', { import_id: id });
    if (found.state === state && found.verdict !== 'losses') return found;
    if (found.state === 'failed' || found.state === 'refused' || found.verdict === 'losses')
      throw new Error(`${found.state}: ${found.error} ${JSON.stringify(found.counts)}`);
  }
  throw new Error(`import ${id} did not become ${state} within ${LIMIT_MS / 1000} s`);
}
