import { randomUUID } from 'node:crypto';
import { diagnose } from '../diagnosis';
import { judge } from '../judge';
import { type Asked, startOnce } from '../load';
import { headersOf, readOnce } from '../read-once';
import { ENGINES, type Rig } from '../rig';
import { type Outcome, type Row, type RowContext, underLoad } from '../row';
import { pause, until } from '../until';

/** Number of POSTs around each kill. */
const POSTS = 9;
/** A client must get an error within this time when a service is dead; it must not wait for ever. */
const ANSWER_MS = 15_000;
/** Time within which the gateway ejects a service that has stopped answering. */
const EJECT_MS = 5_000;

export const serviceRows: Row[] = [
  {
    id: 'F1',
    title: 'the gateway is killed 0-50 ms after POST /executions was sent; the client repeats with its key',
    pass: 'exactly one execution for each key, the answered one; no POST waits longer than 15 s',
    limitS: 120,
    run: (at) => killDuringPost(at, 'gateway'),
  },
  {
    id: 'F1e',
    title: 'the executions service is killed 0-50 ms after POST /executions was sent; the client repeats',
    pass: 'exactly one execution for each key, the answered one; no POST waits longer than 15 s',
    // Twelve rounds took 107 to 117 s: in most of them executions whose driver died wait 5 to 7 s for the next tick of an
    // engine's loop.
    limitS: 240,
    run: (at) => killDuringPost(at, 'executions'),
  },
  {
    id: 'F1m',
    title: 'engines are killed in the middle of executions, one replica or both',
    pass: 'every execution ends; no operation runs again, since its worker lived',
    limitS: 150,
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const kills = isSuite ? 3 : 8;
        for (let i = 0; i < kills; i++) {
          const victims = random.chance(0.5) ? ENGINES : [random.pick(ENGINES)];
          await Promise.all(victims.map((name) => rig.kill(name)));
          await pause(random.below(1_500));
          await rig.heal();
          await pause(1_500 + random.below(1_500));
        }
        return { facts: { kills }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F1d',
    title: 'the deployments service is killed in the middle of executions',
    pass: 'every execution ends; states and runtime properties of node instances are those of the accepted runs',
    limitS: 150,
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const kills = isSuite ? 2 : 6;
        for (let i = 0; i < kills; i++) {
          await rig.kill('deployments');
          await pause(random.below(3_000));
          await rig.heal();
          await pause(1_500 + random.below(1_500));
        }
        return { facts: { kills }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F2',
    title: 'the API process of executions is stopped (SIGSTOP) for 20 s, longer than a lease, and goes on',
    pass: 'the gateway answers 503 within 5 s instead of waiting; what the woken process commits fits; every execution ends',
    limitS: 150,
    run: (at) =>
      underLoad(at, async () => {
        const { rig } = at;
        rig.process('executions').signal('SIGSTOP');
        const stoppedAt = performance.now();
        const first = await readOnce(rig);
        await pause(Math.max(0, 8_000 - (performance.now() - stoppedAt)));
        const second = await readOnce(rig);
        await pause(Math.max(0, 20_000 - (performance.now() - stoppedAt)));
        rig.process('executions').signal('SIGCONT');
        const healed = performance.now();
        await until('the API again', 10_000, async () => (await readOnce(rig)).status === 200);
        const waits = [first, second];
        return {
          facts: {
            answered: waits
              .map(({ status, ms }) => `${status} after ${(ms / 1000).toFixed(1)} s`)
              .join(' and '),
            'well again after': `${((performance.now() - healed) / 1000).toFixed(1)} s`,
          },
          violations: waits.flatMap(({ status, ms }) =>
            status === 503 && ms <= EJECT_MS + 500
              ? []
              : [`F2: the API answered ${status} after ${(ms / 1000).toFixed(1)} s, must be 503 within 5 s`],
          ),
        };
      }),
  },
];

async function killDuringPost({ rig, random, isSuite }: RowContext, victim: string): Promise<Outcome> {
  const kills = isSuite ? 3 : 12;
  const deployments = await rig.deployments(`post-${victim}`, POSTS);
  const asked: Asked[] = [];
  const errors = new Map<string, number>();
  const outcome: Outcome = { violations: [], facts: {} };
  let cutOff = 0;
  for (let kill = 0; kill < kills; kill++) {
    const round = deployments.map((deployment): Asked => {
      const workflow = kill % 2 === 0 ? 'install' : 'uninstall';
      return { key: randomUUID(), deployment, workflow, ids: new Set(), status: null };
    });
    asked.push(...round);
    const sent = Promise.all(
      round.map(async (one) => {
        await pause(random.below(50));
        return await postOnce(rig.fleet.baseUrl, rig.fleet.adminPassword, one);
      }),
    );
    await pause(50);
    await rig.kill(victim);
    const answers = await sent;
    cutOff += answers.filter((answer) => answer === 'cut off').length;
    if (answers.includes('hung'))
      outcome.violations.push(`F1: a POST was not answered within ${ANSWER_MS / 1000} s, nor broken off`);
    await rig.heal();
    await Promise.all(round.map((one) => startOnce(rig, one, errors)));
    const isEnded = await allEnded(rig, round).catch((error: Error) => {
      outcome.violations.push(error.message);
      return false;
    });
    if (!isEnded) {
      outcome.diagnosis = await diagnose(rig);
      break;
    }
  }
  // Three cut-off POSTs of a hundred may be chance; none means that the kills came too late to matter.
  if (cutOff < kills / 2)
    outcome.violations.push(`floor: only ${cutOff} POSTs were cut off by ${kills} kills`);
  // No worker dies here, so no operation may run twice.
  const verdict = await judge(rig, asked, { victims: [] });
  outcome.violations.push(...verdict.violations);
  outcome.facts = {
    POSTs: asked.length,
    'cut off': cutOff,
    executions: verdict.executions,
    operations: verdict.operations,
    repeated: verdict.repeats,
  };
  return outcome;
}

async function allEnded(rig: Rig, round: readonly Asked[]): Promise<boolean> {
  const keys = round.map((one) => one.key);
  return await until('G2: the ends of what was started', 60_000, async () => {
    const rows = await rig.sql<{ phase: string }>(
      `select phase from executions.executions where request_id = any($1)`,
      [keys],
    );
    return rows.length === round.length && rows.every((row) => row.phase === 'ended');
  });
}

/** Sends one POST without a retry. `cut off`: the connection broke or a 5xx arrived. */
async function postOnce(
  baseUrl: string,
  password: string,
  asked: Asked,
): Promise<'answered' | 'cut off' | 'hung'> {
  try {
    const response = await fetch(`${baseUrl}/api/v3.1/executions`, {
      method: 'POST',
      headers: { ...headersOf(password), 'content-type': 'application/json', 'idempotency-key': asked.key },
      body: JSON.stringify({ deployment_id: asked.deployment, workflow_id: asked.workflow }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status >= 500) return 'cut off';
    asked.ids.add(((await response.json()) as { id: string }).id);
    return 'answered';
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'hung' : 'cut off';
  }
}
