// A manager is killed in each phase of an import, and comes back each time. At its end the import has done the same as one that was
// never disturbed: what the two managers answer differs in nothing that is not explained.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilAnswers } from '../harness/processes';
import { type Importer, S71, startImporter } from './importer';

const archive = readFileSync(S71);
let calm: Importer;
let killed: Importer;
beforeAll(async () => {
  [calm, killed] = await Promise.all([startImporter({ workers: 0 }), startImporter({ workers: 0 })]);
}, 120_000);
afterAll(() => Promise.all([calm?.stop(), killed?.stop()]), 60_000);

const ENDS = ['checked', 'applied', 'refused', 'failed'];

/** An import that never gets through a phase is given up: docs/adr/0048. Each kill costs the time of a lease. */
const KILLS: Record<string, number> = { checking: 1, preparing: 1, applying: 1 };

/** Kills the manager when the import says that it does something new. @returns the state in which the import ends */
async function killedInEachPhase(id: string, steps: Set<string>): Promise<string> {
  const { fleet, caller } = killed;
  const manager = fleet.processes.get('standalone')!;
  for (;;) {
    const { status, body } = await caller.send(caller.admin, 'GET', `/imports/${id}`);
    if (status !== 200) throw new Error(`GET /imports/${id}: ${status}`);
    if (ENDS.includes(body.state)) return body.state;
    const step = `${body.state} ${body.step}`.replace(/\d+/g, 'N');
    const before = [...steps].filter((one) => one.startsWith(`${body.state} `)).length;
    // The state changes before the first step is told.
    if (body.state === 'applying' && !body.step.startsWith('Applying')) continue;
    if (steps.has(step) || before >= (KILLS[body.state] ?? 0)) continue;
    steps.add(step);
    manager.signal('SIGKILL');
    await manager.ended();
    manager.start();
    await untilAnswers(`${fleet.baseUrl}/readyz`);
  }
}

test('an import whose manager dies in each phase ends as one that was never disturbed', async () => {
  expect((await calm.apply(await calm.check(archive))).state).toBe('applied');
  const { admin, must } = killed.caller;
  const steps = new Set<string>();
  const { id } = await must(admin, 'POST', '/imports', undefined, archive);
  expect(await killedInEachPhase(id, steps)).toBe('checked');
  const { report_digest } = await must(admin, 'GET', `/imports/${id}`);
  await must(admin, 'POST', `/imports/${id}/apply`, { report_digest });
  expect(await killedInEachPhase(id, steps)).toBe('applied');
  const phases = new Set([...steps].map((step) => step.split(' ')[0]));
  expect(phases).toEqual(new Set(['checking', 'preparing', 'applying']));
  console.info(`killed at: ${[...steps].join('; ')}`);
  const file = join(calm.fleet.dir, 'calm.gz');
  expect((await calm.baton('import', 'record', file, '--rate', '1000')).code).toBe(0);
  const { out } = await killed.baton('import', 'verify', file, '--json');
  const document = JSON.parse(out);
  expect((document.error ?? document).differences).toEqual([]);
}, 240_000);
