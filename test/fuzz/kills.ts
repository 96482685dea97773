/** Kills and restarts processes of a manager at random, and checks that nothing acknowledged is lost. */
import { letTimePass } from '@baton/testkit/let-time-pass';
import type { World } from '../contract/world';
import { tgz } from '../contract/world';
import type { Random } from '../sim/random';
import { tell } from './findings';

const BETWEEN_KILLS_MS = { least: 1_000, more: 5_000 };
const MOST_DOWN_MS = 3_000;
const BACK_MS = 60_000;

/** Until `untilMs`, kills one process after another with SIGKILL and restarts it; then waits until all of them answer. */
export async function killAtRandom(world: World, random: Random, untilMs: number): Promise<void> {
  const { fleet } = world;
  const kills = new Map<string, number>();
  const names = [...fleet.processes.keys()];
  while (Date.now() < untilMs) {
    await letTimePass(BETWEEN_KILLS_MS.least + random.below(BETWEEN_KILLS_MS.more), 'between two kills');
    const name = random.pick(names);
    const process = fleet.processes.get(name)!;
    process.signal('SIGKILL');
    await process.ended();
    kills.set(name, (kills.get(name) ?? 0) + 1);
    await letTimePass(random.below(MOST_DOWN_MS), 'a process is down');
    process.start();
  }
  await untilBack(world);
  console.log(
    `killed: ${[...kills]
      .map(([name, times]) => `${name} ${times}`)
      .sort()
      .join(', ')}`,
  );
}

/** A list route of each service. */
const ASKED = ['/users', '/secrets', '/blueprints', '/deployments', '/executions', '/snapshots'];

async function untilBack(world: World): Promise<void> {
  const isUp = async (path: string): Promise<boolean> =>
    (await world.send('v3.1', 'GET', { path }).catch(() => null))?.status === 200;
  for (const path of ASKED) {
    const until = Date.now() + BACK_MS;
    while (!(await isUp(path))) {
      if (Date.now() > until) return tell('does not come back', path, `${path} is not answered`);
      await letTimePass(200, 'between two looks');
    }
  }
}

export interface Ledger {
  /** Writes an object, and remembers it when the answer was 2xx. */
  one(): Promise<void>;
  /** Checks that all remembered objects exist and that executions have ended. */
  judge(): Promise<void>;
}

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {n: {type: cloudify.nodes.Root}}
`;

export async function ledgerOf(world: World, random: Random): Promise<Ledger> {
  const archive = tgz({ 'blueprint.yaml': BLUEPRINT });
  await world.send('v3.1', 'PUT', { path: '/blueprints/kept', archive });
  const kept: string[] = [];
  const deployments: string[] = [];
  let made = 0;
  const write = async (method: string, path: string, more: object): Promise<string | null> => {
    const answer = await world.send('v3.1', method, { path, ...more }).catch(() => null);
    if (answer === null || answer.status >= 300) return null;
    kept.push(method === 'POST' ? `${path}/${answer.body.id}` : path);
    return answer.body.id;
  };
  return {
    one: async () => {
      const name = `kept-${++made}`;
      switch (random.below(5)) {
        case 0:
          return void (await write('PUT', `/sites/${name}`, { body: {} }));
        case 1:
          return void (await write('PUT', `/secrets/${name}`, { body: { value: 'v' } }));
        case 2:
          return void (await write('PUT', `/blueprints/${name}`, { archive }));
        case 3: {
          const id = await write('PUT', `/deployments/${name}`, { body: { blueprint_id: 'kept' } });
          if (id !== null) deployments.push(id);
          return;
        }
        default: {
          if (deployments.length === 0) return;
          const body = { deployment_id: random.pick(deployments), workflow_id: 'install', force: true };
          await write('POST', '/executions', { body });
        }
      }
    },
    judge: async () => {
      for (const path of kept) {
        const { status, body } = await world.send('v3.1', 'GET', { path });
        if (status !== 200) tell('lost', path.split('/')[1]!, `${path}: ${status} ${JSON.stringify(body)}`);
      }
      console.log(`${kept.length} of ${made} writes were answered, and are there`);
    },
  };
}
