import { randomUUID } from 'node:crypto';
import { ApiError } from '@baton/client';
import { route } from '../harness/session';
import { within } from './deadline';
import type { Rig } from './rig';
import { Refused, until } from './until';

/** A requested execution; `ids` is filled as soon as an answer arrives. */
export interface Asked {
  key: string;
  deployment: string;
  workflow: string;
  /** Further fields of the request body, e.g. the start time. */
  more?: object;
  /** All ids that answers named for this key: there must be exactly one. */
  ids: Set<string>;
  status: string | null;
}

/** Creates a request that has not been sent yet. */
export const toAsk = (deployment: string, workflow = 'install'): Asked => ({
  key: randomUUID(),
  deployment,
  workflow,
  ids: new Set(),
  status: null,
});

/** Lanes of clients: each lane installs and uninstalls its own deployment again and again, through faults. */
export interface Load {
  asked: Asked[];
  /**
   * Errors that clients received, by kind. A manager under faults may return errors, but it must not lose or duplicate anything.
   */
  errors: Map<string, number>;
  /** Starts one more execution beside the lanes; it is awaited and judged together with theirs. */
  add(deployment: string, workflow: string, more?: object): Promise<Asked>;
  /** Ledger lines of executions of this load. */
  runs(): ReturnType<Rig['ledger']['runs']>;
  /** Starts no new executions; resolves when all have ended. @throws when they do not end within `limitMs` */
  finish(limitMs: number): Promise<void>;
}

const CALL_MS = 15_000;
const TERMINAL = new Set(['terminated', 'failed', 'cancelled']);

export async function startLoad(rig: Rig, lanes = 5): Promise<Load> {
  const deployments = await rig.deployments('lane', lanes);
  const load = { asked: [] as Asked[], errors: new Map<string, number>() };
  let isStopping = false;
  let broken: Error | null = null;
  const lane = async (deployment: string): Promise<void> => {
    const last = await lastWorkflow(rig, deployment);
    let workflow = last === 'install' ? 'uninstall' : 'install';
    while (!isStopping) {
      const asked = toAsk(deployment, workflow);
      load.asked.push(asked);
      await startOnce(rig, asked, load.errors);
      await untilEnded(rig, asked, load.errors);
      workflow = workflow === 'install' ? 'uninstall' : 'install';
    }
  };
  const onBreak = (error: Error): void => {
    broken ??= error;
  };
  const running = [Promise.all(deployments.map(lane)).then(() => undefined, onBreak)];
  return {
    ...load,
    add: async (deployment, workflow, more) => {
      const asked: Asked = { ...toAsk(deployment, workflow), more };
      load.asked.push(asked);
      await startOnce(rig, asked, load.errors);
      running.push(untilEnded(rig, asked, load.errors).catch(onBreak));
      return asked;
    },
    runs: () => {
      const ids = new Set(load.asked.flatMap((asked) => [...asked.ids]));
      return rig.ledger.runs().filter((run) => ids.has(run.execution));
    },
    finish: async (limitMs) => {
      isStopping = true;
      await within(limitMs, Promise.all(running)).catch(() => undefined);
      if (broken) throw broken;
      const open = load.asked.filter((asked) => asked.status === null);
      if (open.length > 0) {
        const named = open.map((asked) => [...asked.ids][0] ?? `key ${asked.key}`).join(', ');
        throw new Error(`G2: ${open.length} executions have not ended within ${limitMs / 1000} s: ${named}`);
      }
    },
  };
}

async function lastWorkflow(rig: Rig, deployment: string): Promise<string | null> {
  const rows = await rig.sql<{ workflow_id: string }>(
    `select workflow_id from executions.executions where deployment_id = $1 and workflow_id in ('install', 'uninstall')
     order by created_at desc limit 1`,
    [deployment],
  );
  return rows[0]?.workflow_id ?? null;
}

/** Sends the start with one Idempotency-Key until an answer arrives. A refusal that no fault explains fails the run. */
export async function startOnce(rig: Rig, asked: Asked, errors: Map<string, number>): Promise<string> {
  return await until(`start of ${asked.workflow} on ${asked.deployment}`, 120_000, async () => {
    try {
      const answer = (await rig.client.call(
        route('startExecution') as never,
        {
          body: { deployment_id: asked.deployment, workflow_id: asked.workflow, ...asked.more },
          idempotencyKey: asked.key,
          timeoutMs: CALL_MS,
        } as never,
      )) as { id: string };
      asked.ids.add(answer.id);
      return answer.id;
    } catch (error) {
      note(errors, error);
      return null;
    }
  });
}

/** Polls until the execution has ended. */
async function untilEnded(rig: Rig, asked: Asked, errors: Map<string, number>): Promise<void> {
  const [executionId] = asked.ids;
  await until(
    `end of ${executionId}`,
    180_000,
    async () => {
      try {
        const { status } = (await rig.client.call(
          route('getExecution') as never,
          { params: { executionId }, timeoutMs: CALL_MS } as never,
        )) as { status: string };
        if (!TERMINAL.has(status)) return false;
        asked.status = status;
        return true;
      } catch (error) {
        note(errors, error);
        return false;
      }
    },
    250,
  );
}

/** Counts errors that a fault may cause. Throws on any other error: such an answer is wrong. */
function note(errors: Map<string, number>, error: unknown): void {
  const isRefusal = error instanceof ApiError && error.status < 500;
  if (isRefusal) throw new Refused(`refused: ${error.status} ${error.errorCode}: ${error.message}`);
  const kind = error instanceof ApiError ? `${error.status} ${error.errorCode}` : (error as Error).name;
  errors.set(kind, (errors.get(kind) ?? 0) + 1);
}
