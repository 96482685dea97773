import { randomUUID } from 'node:crypto';
import { ask } from '../ask';
import { diagnose } from '../diagnosis';
import { judge } from '../judge';
import type { Asked } from '../load';
import { ENGINES, type Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

const MEMBERS = 10;
const CONCURRENCY = 3;
const END_MS = 60_000;

export const groupRows: Row[] = [
  {
    id: 'F1g',
    title: 'deployments and engines are killed while a group is made, started and run',
    pass: `each member is made once and runs once, at most ${CONCURRENCY} at a time; every execution ends`,
    limitS: 150,
    run: groups,
  },
];

async function groups(at: RowContext): Promise<Outcome> {
  const { rig } = at;
  const outcome: Outcome = { violations: [], facts: {} };
  await rig.deployments('group', 0);
  const group = `group-${randomUUID().slice(0, 8)}`;
  await makeGroup(at, group);
  const runs = await startGroup(at, group);
  const kills = 2 + (await killWhileRunning(at, runs));
  await until(`G2: the ends of ${runs}`, END_MS, async () => {
    const members = await membersOf(rig, runs);
    return members.length > 0 && members.every((one) => one.phase === 'ended');
  }).catch(async (error: Error) => {
    outcome.violations.push(error.message);
    outcome.diagnosis = await diagnose(rig);
  });
  outcome.violations.push(...(await checkGroup(rig, group, runs)));
  const asked = (await membersOf(rig, runs)).map(
    (one): Asked => ({
      key: one.request_id,
      deployment: one.deployment,
      workflow: 'install',
      ids: new Set([one.id]),
      status: one.status,
    }),
  );
  const verdict = await judge(rig, asked, { victims: [] });
  outcome.violations.push(...verdict.violations);
  outcome.facts = {
    kills,
    executions: verdict.executions,
    operations: verdict.operations,
    repeated: verdict.repeats,
  };
  return outcome;
}

const idsOf = (group: string): string[] => Array.from({ length: MEMBERS }, (_, i) => `${group}-${i}`);

/** Creates a group with deployments while the deployments service is killed during the request; the client repeats the request. */
async function makeGroup({ rig, random }: RowContext, group: string): Promise<void> {
  const making = ask(rig.client, 'putDeploymentGroup', {
    params: { id: group },
    body: {
      blueprint_id: 'layers',
      default_inputs: { ledger: rig.ledger.path },
      new_deployments: idsOf(group).map((id) => ({ id })),
    },
    idempotencyKey: randomUUID(),
  });
  await strike(rig, ['deployments'], random.below(200), making);
}

/** Starts a workflow on all members while the engine is killed during the request. Returns the id of the execution group. */
async function startGroup({ rig, random }: RowContext, group: string): Promise<string> {
  const starting = ask(rig.client, 'createExecutionGroup', {
    body: { deployment_group_id: group, workflow_id: 'install', concurrency: CONCURRENCY },
    idempotencyKey: randomUUID(),
  });
  await strike(rig, ['executions'], random.below(100), starting);
  return (await starting).id as string;
}

async function strike(
  rig: Rig,
  victims: readonly string[],
  afterMs: number,
  meanwhile: Promise<unknown>,
): Promise<void> {
  // The result is checked below, after the repair.
  meanwhile.catch(() => undefined);
  await pause(afterMs);
  await Promise.all(victims.map((name) => rig.kill(name)));
  await rig.heal();
  await meanwhile;
}

async function killWhileRunning({ rig, random, isSuite }: RowContext, runs: string): Promise<number> {
  const targets = [[...ENGINES], ['executions'], ['deployments'], ['deployments', ...ENGINES]];
  let kills = 0;
  for (; kills < (isSuite ? 2 : 3); kills++) {
    const isOver = await until('floor: a member at work and others that wait', END_MS, async () => {
      const members = await membersOf(rig, runs);
      if (members.length > 0 && members.every((one) => one.phase === 'ended')) return 'over';
      return members.some((one) => one.phase === 'running') ? 'running' : null;
    });
    if (isOver === 'over') break;
    const victims = random.pick(targets);
    await Promise.all(victims.map((name) => rig.kill(name)));
    await pause(random.below(1_000));
    await rig.heal();
    await pause(random.below(1_000));
  }
  if (kills === 0) throw new Error('floor: the group had ended before anything was killed');
  return kills;
}

interface Member {
  id: string;
  request_id: string;
  deployment: string;
  phase: string;
  status: string;
  started: number;
  ended: number;
}

async function membersOf(rig: Rig, runs: string): Promise<Member[]> {
  return await rig.sql<Member>(
    `select id, request_id, deployment_id as deployment, phase, status,
       (extract(epoch from started_at) * 1000)::float8 as started, (extract(epoch from ended_at) * 1000)::float8 as ended
     from executions.executions where execution_group_id = $1 order by created_at, id`,
    [runs],
  );
}

/** Checks that every member was created once and has run once, and that never more members ran at a time than requested. */
async function checkGroup(rig: Rig, group: string, runs: string): Promise<string[]> {
  const violations: string[] = [];
  const expect = (what: string, found: string[], wanted: string[]): void => {
    if ([...found].sort().join() !== [...wanted].sort().join())
      violations.push(`G1: ${what} of ${group} are [${found.join(', ')}], must be [${wanted.join(', ')}]`);
  };
  const ids = idsOf(group);
  const idsIn = async (text: string): Promise<string[]> =>
    (await rig.sql<{ id: string }>(text, [group])).map((row) => row.id);
  expect('deployments', await idsIn(`select id from deployments.deployments where id like $1 || '-%'`), ids);
  expect(
    'members',
    await idsIn(
      `select d.id from deployments.deployment_groups g join deployments.deployment_group_members m on m.group_key = g.key
         join deployments.deployments d on d.key = m.deployment_key where g.id = $1`,
    ),
    ids,
  );
  for (const workflow of ['create_deployment_environment', 'install'])
    expect(
      `executions of ${workflow}`,
      await until('records of what was made', 20_000, async () => {
        const found = await idsIn(
          `select deployment_id as id from executions.executions where deployment_id like $1 || '-%' and workflow_id = '${workflow}'`,
        );
        return found.length >= MEMBERS ? found : null;
      }).catch(() => []),
      ids,
    );
  const members = await membersOf(rig, runs);
  const most = Math.max(
    ...members.map(
      (one) => members.filter((other) => other.started <= one.started && one.started < other.ended).length,
    ),
  );
  if (most > CONCURRENCY)
    violations.push(`G6: ${most} members of ${runs} ran at once, allowed ${CONCURRENCY}`);
  return violations;
}
