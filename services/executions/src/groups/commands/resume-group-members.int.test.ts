import { newId } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { sql } from 'kysely';
import { setStatus } from '../../engine/commands/set-status';
import { peerDeployment } from '../../testing/deployments-peer';
import { type EngineSetup, engineSetup, work } from '../../testing/engine-setup';
import { readGroup } from '../store/execution-groups.sql';
import { actOnGroup } from './act-on-group';
import { createExecutionGroup } from './create-execution-group';

/** Resumes of members of execution groups in failing or unusual cases. */

const DEADLINE = { deadlineMs: 20_000 };
const TENANT = 'default_tenant';

let engine: EngineSetup;
beforeAll(async () => {
  engine = await engineSetup();
}, 60_000);
afterAll(async () => await engine?.stop());

/** Creates an execution group over `count` deployments of its own. */
async function begin(name: string, count: number, concurrency: number): Promise<string> {
  const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  for (const id of ids) engine.peer.deployments.set(id, peerDeployment({ [id]: [] }, ['create']));
  engine.peer.groups.set(name, ids);
  const groupId = newId();
  const of = { tenant: TENANT, createdBy: 'admin', isAdministrator: true, groupId, deploymentGroupId: name };
  const run = { workflowId: 'install', defaultParameters: {}, parameters: {}, isForced: false, concurrency };
  await createExecutionGroup(
    engine.deps,
    { ...of, ...run, visibility: null, createdAt: null },
    async () => undefined,
  );
  return groupId;
}

interface Member {
  id: string;
  status: string;
  phase: string;
  resume_wish: string | null;
}

async function members(groupId: string): Promise<Member[]> {
  const { rows } = await sql<Member>`select id, status, phase, resume_wish from executions
    where execution_group_id = ${groupId} order by created_at, id`.execute(engine.db.query);
  return rows;
}

const act = async (groupId: string, action: 'cancel' | 'resume') =>
  actOnGroup(engine.deps, (await readGroup(engine.db.query, TENANT, groupId))!, action);

async function statusesAre(groupId: string, expected: string[]): Promise<void> {
  await eventually(async () => {
    for (const { id, phase } of await members(groupId))
      if (phase === 'running') await work(engine.client, id, 'w1');
    expect((await members(groupId)).map(({ status }) => status)).toEqual(expected);
  }, DEADLINE);
}

test('a member whose graph cannot be read holds up neither the others of its group nor other groups', async () => {
  const [unread, behind] = [await begin('unread', 3, 1), await begin('behind', 1, 1)];
  await act(unread, 'cancel');
  await act(behind, 'cancel');
  await statusesAre(unread, ['cancelled', 'cancelled', 'cancelled']);
  await statusesAre(behind, ['cancelled']);
  const [{ id: broken }] = (await members(unread)) as [Member];
  const graph = newId();
  await sql`insert into tasks_graphs (id, execution_id, name, wait_after_fail_ms, is_dry_run, flags, tasks)
    values (${graph}, ${broken}, 'other', 0, false, '{}', 'no graph')`.execute(engine.db.query);
  await sql`update executions set graph_id = ${graph}, stage = '{"kind": "graph", "name": "other", "memo": null}'
    where id = ${broken}`.execute(engine.db.query);
  await act(unread, 'resume');
  await act(behind, 'resume');
  await statusesAre(behind, ['terminated']);
  await statusesAre(unread, ['cancelled', 'terminated', 'terminated']);
  // The wish to resume is kept.
  expect((await members(unread))[0]!.resume_wish).toBe('resume');
}, 60_000);

test.each(['queued', 'scheduled'] as const)(
  'a member that a client sets back to %s begins again',
  async (status) => {
    const id = await begin(status, 1, 2);
    await eventually(async () => expect((await members(id))[0]!.phase).toBe('running'), DEADLINE);
    // Nothing else waits in the group.
    await eventually(async () => {
      const { rows } = await sql`select 1 from execution_groups where id = ${id} and has_queued`.execute(
        engine.db.query,
      );
      expect(rows).toEqual([]);
    }, DEADLINE);
    await setStatus(engine.deps, (await members(id))[0]!.id, status, '');
    await statusesAre(id, ['terminated']);
  },
  60_000,
);
