/**
 * Executions whose operations and workflow code behave oddly (test/fuzz/odd). Each must end by itself, tell the reason, and leave
 * readable data.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { letTimePass } from '@baton/testkit/let-time-pass';
import type { World } from '../contract/world';
import { archiveOf } from '../harness/session';
import type { Random } from '../sim/random';
import { tell } from './findings';

/** Time limit: nothing that these operations do takes longer, including all retries. */
const END_MS = 90_000;
/** A secret that must appear neither in events nor in errors nor in the logs of the manager's processes. */
const SECRET = 'fuzz-S3cr3t/Value';
const FORMS = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')];
const isTold = (text: string): boolean => FORMS.some((form) => text.includes(form));
/** Signs of an error text that does not help the author of the operation. */
const UNREADABLE =
  /Internal error in the manager|\[object \w+\]|is not a function|Cannot read propert|without a message|Zod/;

export const oddEnv = { BATON_WORKER_HANDLERS: join(__dirname, '../handlers/odd.js') };

export interface OddOperations {
  /** Creates a deployment, runs a workflow on it, and checks everything that is left. */
  one(): Promise<void>;
  /** Searches for the secret in everything that the manager has written. */
  judgeSecrecy(): void;
  tellCounts(): void;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  body: any;
}

export async function oddOperations(
  world: World,
  random: Random,
  mayBeDown: boolean,
): Promise<OddOperations> {
  const ask = async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const answer = await world.send('v3.1', method, { path, body });
    if (answer.status >= 500 && !(mayBeDown && typeof answer.body?.error_code === 'string'))
      tell(
        'server error',
        `${method} ${path.replaceAll(/odd-\d+|\d+/g, 'N')}`,
        `${method} ${path}: ${JSON.stringify(answer.body)}`,
      );
    return answer;
  };
  await ask('PUT', '/secrets/odd', { value: SECRET });
  const archive = archiveOf(join(__dirname, 'odd'));
  await world.send('v3.1', 'PUT', { path: '/blueprints/odd?application_file_name=blueprint.yaml', archive });
  const ends = new Map<string, number>();
  let made = 0;

  const run = async (
    deployment: string,
    seed: number,
    workflow_id: string,
    parameters: object,
  ): Promise<void> => {
    const place = `${workflow_id} ${JSON.stringify(parameters)} of ${deployment}, seed ${seed}`;
    const body = { deployment_id: deployment, workflow_id, parameters, force: true };
    const { status, body: started } = await ask('POST', '/executions', body);
    if (status >= 500) return;
    if (status >= 300) return tell('not started', workflow_id, `${place}: ${JSON.stringify(started)}`);
    const ended = await untilEnded(ask, started.id);
    const key = `${workflow_id} ${ended.status}`;
    ends.set(key, (ends.get(key) ?? 0) + 1);
    // Other requests may cancel the execution.
    if (!['terminated', 'failed', 'cancelled'].includes(ended.status)) {
      const why = await ask('GET', `/executions/${started.id}/why`);
      tell(
        'does not end by itself',
        `${workflow_id} ${ended.status}`,
        `${place}: ${JSON.stringify([ended, why.body])}`,
      );
    }
    if (ended.status === 'failed' && (!ended.error || UNREADABLE.test(ended.error)))
      tell(
        'unreadable error',
        `${workflow_id} ${UNREADABLE.exec(ended.error ?? '')?.[0]}`,
        `${place}: ${ended.error?.slice(0, 2000)}`,
      );
    const events = await ask('GET', `/events?execution_id=${started.id}&_size=1000`);
    for (const event of events.body.items ?? [])
      if (isTold(JSON.stringify(event)))
        tell('secret told', 'events', `${place}: ${JSON.stringify(event).slice(0, 500)}`);
    if (isTold(JSON.stringify(ended))) tell('secret told', 'executions', `${place}: ${ended.error}`);
  };

  const look = async (deployment: string): Promise<void> => {
    for (const path of [
      `/node-instances?deployment_id=${deployment}&_size=100`,
      `/node-instances?deployment_id=${deployment}&_evaluate_functions=true`,
      `/deployments/${deployment}/outputs`,
      `/deployments/${deployment}/capabilities`,
      `/nodes?deployment_id=${deployment}&_evaluate_functions=true`,
    ])
      await ask('GET', path);
  };

  return {
    one: async () => {
      const seed = random.below(1_000_000_000);
      const deployment = `odd-${++made}`;
      const { status } = await ask('PUT', `/deployments/${deployment}`, {
        blueprint_id: 'odd',
        inputs: { seed },
      });
      // Another request uses the id: its blueprint may be missing for a moment.
      if (status >= 300) return await letTimePass(100, 'before another try');
      if (random.chance(0.3)) await run(deployment, seed, 'install', {});
      for (let left = 1 + random.below(4); left > 0; left--) {
        const operation = `odd.${random.pick(['js', 'js', 'fragile', 'bash', 'python'])}`;
        const own = random.below(1_000_000_000);
        const [workflow, parameters] = random.pick<[string, object]>([
          ['execute_operation', { operation, operation_kwargs: { seed: own }, allow_kwargs_override: true }],
          ['execute_operation', { operation, operation_kwargs: { seed: own }, allow_kwargs_override: true }],
          ['odd', { seed: own }],
          ['odd_script', { seed: own }],
        ]);
        await run(deployment, seed, workflow, parameters);
        await look(deployment);
      }
      await run(deployment, seed, 'uninstall', { ignore_failure: true });
      await ask('DELETE', `/deployments/${deployment}?force=true`);
    },
    judgeSecrecy: () => {
      const folder = join(world.fleet.dir, 'logs');
      for (const name of readdirSync(folder)) {
        const lines = readFileSync(join(folder, name), 'utf8').split('\n');
        const line = lines.find(isTold);
        if (line !== undefined) tell('secret told', `log of ${name}`, line.slice(0, 1000));
      }
    },
    tellCounts: () =>
      console.log(
        `odd executions: ${[...ends]
          .map(([end, n]) => `${end} ${n}`)
          .sort()
          .join(', ')}`,
      ),
  };
}

async function untilEnded(
  ask: (method: string, path: string) => Promise<Answered>,
  id: string,
): Promise<{ status: string; error: string | null }> {
  for (const until = Date.now() + END_MS; ; await letTimePass(100, 'between two looks')) {
    const { body } = await ask('GET', `/executions/${id}`);
    if (['terminated', 'failed', 'cancelled'].includes(body.status) || Date.now() > until) return body;
  }
}
