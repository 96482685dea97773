import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { root } from '../../harness/processes';
import { ask } from '../ask';
import type { Rig } from '../rig';
import { type Outcome, type Row, type RowContext, underLoad } from '../row';
import { pause, until } from '../until';

export const snapshotRows: Row[] = [
  {
    id: 'F25',
    limitS: 600,
    title:
      'cluster-status is killed at each phase of making snapshots under load; a standalone at each phase of a restore',
    pass: 'each snapshot is made, or failed and says why; a restore ends in the old or the new state, equal by its canonical hash; no execution is lost',
    run: snapshots,
  },
];

/** Number of moments for a kill during the creation of a snapshot, spread over `SPREAD_MS` after the request. */
const PHASES = 6;
const SPREAD_MS = 400;
const END_MS = 60_000;
const RESTORE_MS = 240_000;

async function snapshots(at: RowContext): Promise<Outcome> {
  const { rig, random, isSuite } = at;
  const ends = new Map<string, number>();
  const outcome = await underLoad(at, async () => {
    const violations: string[] = [];
    for (let phase = 0; phase < (isSuite ? 4 : PHASES); phase++) {
      const id = `phase-${phase}-${randomUUID().slice(0, 6)}`;
      await ask(rig.client, 'createSnapshot', { params: { snapshot_id: id }, isDone: ['conflict_error'] });
      await pause(phase * SPREAD_MS + random.below(SPREAD_MS));
      await rig.kill('cluster-status');
      await rig.heal();
      const { status, error } = await endOf(rig, id);
      ends.set(status, (ends.get(status) ?? 0) + 1);
      if (status !== 'created' && !error)
        violations.push(`F25: snapshot ${id} is ${status} and does not say why`);
    }
    return { facts: { snapshots: [...ends].map(([s, n]) => `${n} x ${s}`).join(', ') }, violations };
  });
  // `npm test` runs these tests separately.
  if (!isSuite) outcome.violations.push(...(await restores()));
  return outcome;
}

async function endOf(rig: Rig, id: string): Promise<{ status: string; error: string | null }> {
  return await until(`the end of snapshot ${id}`, END_MS, async () => {
    const one = await ask(rig.client, 'getSnapshot', { params: { snapshot_id: id } });
    return one.status === 'creating' ? null : (one as { status: string; error: string | null });
  });
}

/**
 * Runs the tests of restores. A restore replaces the whole manager, so each test has its own one, which is killed in each state
 * of the job.
 */
async function restores(): Promise<string[]> {
  const file = 'apps/standalone/src/snapshot-crash.int.test.ts';
  return await promisify(execFile)(
    process.execPath,
    [require.resolve('jest/bin/jest'), '-w', '1', '--runTestsByPath', file],
    {
      cwd: root,
      timeout: RESTORE_MS,
      maxBuffer: 16 * 1_048_576,
    },
  ).then(
    () => [],
    (error: Error & { stderr?: string }) => [
      `F25: ${file} failed:\n${(error.stderr ?? error.message).slice(-2_000)}`,
    ],
  );
}
