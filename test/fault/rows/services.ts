import { randomUUID } from 'node:crypto';
import { untilAnswers } from '../../harness/processes';
import { judge } from '../judge';
import { type Asked, startOnce } from '../load';
import { type Outcome, type Row, type RowContext, underLoad } from '../row';
import { pause, until } from '../until';

/** POSTs that are under way when the process dies. */
const POSTS = 3;
/** A dead service is told to the client; it does not wait for ever. */
const ANSWER_MS = 15_000;

export const serviceRows: Row[] = [
  {
    id: 'F1',
    title: 'the gateway is killed 0-50 ms after POST /executions was sent; the client repeats with its key',
    isInSuite: true,
    pass: 'exactly one execution for each key',
    run: (at) => killDuringPost(at, 'gateway'),
  },
  {
    id: 'F1e',
    title: 'the executions service is killed 0-50 ms after POST /executions was sent',
    isInSuite: true,
    pass: 'exactly one execution for each key',
    run: (at) => killDuringPost(at, 'executions'),
  },
  {
    id: 'F1m',
    title: 'the executions service is killed in the middle of executions',
    isInSuite: true,
    pass: 'every execution ends; what was accepted is not run again',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const kills = isSuite ? 3 : 12;
        for (let i = 0; i < kills; i++) {
          await rig.kill('executions');
          await pause(random.below(1_500));
          await rig.heal();
          await pause(1_500 + random.below(2_000));
        }
        return { facts: { kills }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F1d',
    title: 'the deployments service is killed in the middle of executions',
    isInSuite: false,
    pass: 'every execution ends; states of node instances are those of the last workflow',
    run: (at) =>
      underLoad(at, async () => {
        const { rig, random, isSuite } = at;
        const kills = isSuite ? 2 : 8;
        for (let i = 0; i < kills; i++) {
          await rig.kill('deployments');
          await pause(random.below(3_000));
          await rig.heal();
          await pause(1_500 + random.below(2_000));
        }
        return { facts: { kills }, judge: { victims: [] } };
      }),
  },
  {
    id: 'F2',
    title: 'the executions service is stopped (SIGSTOP) for 20 s, longer than a lease, and goes on',
    isInSuite: false,
    pass: 'the API answers an error within 35 s instead of hanging; every execution ends',
    run: (at) =>
      underLoad(at, async () => {
        const { rig } = at;
        rig.process('executions').signal('SIGSTOP');
        await pause(20_000);
        rig.process('executions').signal('SIGCONT');
        await untilAnswers(`${rig.fleet.baseUrl}/readyz`);
        await pause(3_000);
        return {};
      }),
  },
];

async function killDuringPost({ rig, random, isSuite }: RowContext, victim: string): Promise<Outcome> {
  const trials = isSuite ? 6 : 100 / POSTS;
  const deployments = await rig.deployments('post', POSTS);
  const asked: Asked[] = [];
  const errors = new Map<string, number>();
  const violations: string[] = [];
  let broken = 0;
  for (let trial = 0; trial < trials; trial++) {
    const round = deployments.map((deployment): Asked => {
      const workflow = trial % 2 === 0 ? 'install' : 'uninstall';
      return { key: randomUUID(), deployment, workflow, ids: new Set(), status: null };
    });
    asked.push(...round);
    const sent = Promise.all(round.map((one) => postOnce(rig.fleet.baseUrl, rig.fleet.adminPassword, one)));
    await pause(random.below(50));
    await rig.kill(victim);
    const answers = await sent;
    broken += answers.filter((answer) => answer === 'broken').length;
    if (answers.includes('hung'))
      violations.push(`F1: a POST was not answered within ${ANSWER_MS / 1000} s, nor broken off`);
    await rig.heal();
    await Promise.all(round.map((one) => startOnce(rig, one, errors)));
    await until('the ends of this round', 90_000, async () => {
      const rows = await rig.sql<{ phase: string }>(
        `select phase from executions.executions where request_id = any($1)`,
        [round.map((one) => one.key)],
      );
      return rows.every((row) => row.phase === 'ended');
    }).catch((error: Error) => violations.push(error.message));
  }
  if (broken === 0) violations.push('floor: no POST was cut off by the kill');
  const verdict = await judge(rig, asked);
  return {
    violations: [...violations, ...verdict.violations],
    facts: {
      posts: asked.length,
      'cut off': broken,
      executions: verdict.executions,
      repeated: verdict.repeats,
    },
  };
}

/** One POST without any repetition; broken: the connection broke or a 5xx came. */
async function postOnce(
  baseUrl: string,
  password: string,
  asked: Asked,
): Promise<'answered' | 'broken' | 'hung'> {
  try {
    const response = await fetch(`${baseUrl}/api/v3.1/executions`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
        tenant: 'default_tenant',
        'content-type': 'application/json',
        'idempotency-key': asked.key,
      },
      body: JSON.stringify({ deployment_id: asked.deployment, workflow_id: asked.workflow }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status >= 500) return 'broken';
    asked.ids.add(((await response.json()) as { id: string }).id);
    return 'answered';
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'hung' : 'broken';
  }
}
