import type { Envelope } from '@baton/contracts';
import { AppError, type Json } from '@baton/kernel';
import type { CallRequest, DeploymentModel } from '@baton/task-graph';
import type { DeploymentsPort } from '../../../services/executions/src/adapters/deployments.client';
import { answerCall, applyEdits } from '../deployments';
import { WORKFLOWS } from '../simulate';
import type { Conditions } from './conditions';
import { executionIdOf } from './executions';
import type { VirtualProcess, VirtualWorld } from './virtual';

/** The deployments service: away for a time perhaps, slow with some calls; others lose their request or answer, or come twice. */
export interface DeploymentsPeer {
  models: Map<string, DeploymentModel>;
  /** Last state number applied, by `<execution>/<instance>`. */
  applied: Map<string, number>;
  ended: {
    executionId: string;
    status: string;
    lastStateSeq: number;
    isWhole: boolean;
    at: number;
    by: VirtualProcess;
  }[];
  port: DeploymentsPort;
}

const REFUSED_MS = 50;

/** Whether deployments finds at the end that an execution which succeeded has failed all the same. */
export const isCircular = (executionId: string): boolean => executionId === executionIdOf(1);

/** `isWhole`: whether all that was decided up to a number has been applied. */
export function newDeployments(
  world: VirtualWorld,
  { away: { from, until }, slow, slowMs }: Pick<Conditions, 'away' | 'slow' | 'slowMs'>,
  isWhole: (executionId: string, upTo: number) => boolean,
): DeploymentsPeer {
  const models = new Map<string, DeploymentModel>();
  const applied = new Map<string, number>();
  const answers = new Map<string, Json>();
  const ended: DeploymentsPeer['ended'] = [];
  const ask = async <T>(serve: () => T): Promise<T> => {
    const away = () => new AppError('service_unavailable_error', 'deployments does not answer');
    await world.pause(world.random.chance(slow) ? world.random.below(slowMs) : 1);
    if (world.now >= from && world.now < until) {
      await world.pause(REFUSED_MS);
      throw away();
    }
    if (world.random.chance(world.faults.lose)) throw away();
    const answer = serve();
    if (world.random.chance(world.faults.duplicate)) serve();
    await world.pause(1);
    if (world.random.chance(world.faults.lose)) throw away();
    return answer;
  };
  const notUsed = async (): Promise<never> => {
    throw new Error('the simulation does not serve this call');
  };
  return {
    models,
    applied,
    ended,
    port: {
      facts: (_tenant, id) =>
        ask(() => ({
          id,
          blueprintId: 'blueprint',
          displayName: id,
          visibility: 'tenant',
          workflows: Object.fromEntries(
            WORKFLOWS.map((name) => [
              name,
              {
                plugin: 'default_workflows',
                operation: `cloudify.plugins.workflows.${name}`,
                parameters: {},
              },
            ]),
          ),
          instanceStates: models.get(id)!.nodeInstances.map(({ node_id, state }) => ({
            node_id,
            state: state ?? 'uninitialized',
          })),
          nodeTypes: [],
          dependents: [],
        })),
      groupMembers: notUsed,
      addToGroup: notUsed,
      latestExecutions: notUsed,
      evaluate: notUsed,
      model: (_tenant, id) =>
        ask(() => ({ blueprintId: 'blueprint', model: structuredClone(models.get(id)!) })),
      components: async () => [],
      applyStates: (executions) =>
        ask(() => {
          for (const { deploymentId, executionId, states } of executions) {
            const model = models.get(deploymentId)!;
            for (const { seq, node_instance_id, state, edits } of states) {
              const key = `${executionId}/${node_instance_id}`;
              const instance = model.nodeInstances.find((one) => one.id === node_instance_id);
              if (!instance || (applied.get(key) ?? 0) >= seq) continue;
              applied.set(key, seq);
              if (state !== null) instance.state = state;
              if (edits) applyEdits(model, node_instance_id, edits);
            }
          }
        }),
      call: ({ deploymentId: id, executionId }, name, request) =>
        ask(() => {
          const key = `${executionId}/${name}`;
          if (!answers.has(key))
            answers.set(key, answerCall({ model: models.get(id)! }, request as unknown as CallRequest));
          return answers.get(key)!;
        }),
      executionEnded: ({ executionId, status, lastStateSeq }) =>
        ask(() => {
          const isFailed = status === 'terminated' && isCircular(executionId);
          const shown = isFailed ? 'failed' : status;
          const seen = {
            isWhole: isWhole(executionId, lastStateSeq),
            at: world.now,
            by: world.life()!.process,
          };
          ended.push({ executionId, status: shown, lastStateSeq, ...seen });
          return isFailed ? 'its dependencies close a circle' : '';
        }),
    },
  };
}

/** A broker that loses, doubles and reorders. */
export function publishTo(
  world: VirtualWorld,
  processes: readonly VirtualProcess[],
  envelope: Envelope,
  deliver: (to: VirtualProcess, envelope: Envelope) => Promise<unknown>,
): void {
  const copies = world.random.chance(world.faults.duplicate) ? 2 : 1;
  for (let i = 0; i < copies; i++) {
    if (world.random.chance(world.faults.lose)) continue;
    world.at(world.now + world.random.below(60), () => {
      const up = processes.filter((process) => process.isUp);
      if (up.length > 0) {
        const to = world.random.pick(up);
        world.spawn(to, () => deliver(to, envelope));
      }
    });
  }
}

const CALL_TIMEOUT_MS = 2_000;

/** Asks one of `servers` from another process; null: no answer in time, the work may or may not have been done. */
export async function call<T>(
  world: VirtualWorld,
  servers: readonly VirtualProcess[],
  handler: (server: VirtualProcess) => Promise<T>,
): Promise<T | null> {
  const up = servers.filter((process) => process.isUp);
  const isSent = up.length > 0 && !world.random.chance(world.faults.lose);
  let answered: (answer: T | null) => void = () => undefined;
  const answer = new Promise<T | null>((resolve) => (answered = resolve));
  world.at(world.now + CALL_TIMEOUT_MS, () => answered(null));
  if (isSent) {
    const server = world.random.pick(up);
    world.at(world.now + world.random.below(5), () =>
      world.spawn(server, async () => {
        const result = await handler(server).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
          return null;
        });
        if (world.random.chance(world.faults.lose)) return;
        await world.pause(1);
        answered(result);
      }),
    );
  }
  const result = await answer;
  // The caller may have died meanwhile.
  await world.pause(0.1);
  return result;
}
