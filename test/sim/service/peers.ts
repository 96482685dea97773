import type { Envelope } from '@baton/contracts';
import { AppError, type Json } from '@baton/kernel';
import type { CallRequest, DeploymentModel } from '@baton/task-graph';
import type { DeploymentsPort } from '../../../services/executions/src/adapters/deployments.client';
import { answerCall, applyEdits } from '../deployments';
import { WORKFLOWS } from '../simulate';
import type { Conditions } from './conditions';
import { executionIdOf } from './executions';
import type { VirtualProcess, VirtualWorld } from './virtual';

/**
 * The deployments service. It may be away for a time and slow with some calls. Other calls lose their request or answer, or
 * arrive twice.
 */
export interface DeploymentsPeer {
  models: Map<string, DeploymentModel>;
  /** Last state number applied, by `<execution>/<instance>`. */
  applied: Map<string, number>;
  ended: { executionId: string; isWhole: boolean }[];
  /** Executions that deployments has confirmed as successful at least once. */
  agreed: Set<string>;
  /** The status shown for each execution while it is the latest one of its deployment. */
  shown: Map<string, ShownExecution>;
  /** Handles the message that an execution was accepted or resumed. */
  requested(envelope: Envelope): void;
  port: DeploymentsPort;
}

interface ShownExecution {
  status: string;
  version: number;
  /** Time of the virtual clock. */
  at: number;
}

/** Whether this message is newer than the status shown for the same execution (services/deployments/migrations/0096). */
function isNews(
  shown: ShownExecution | undefined,
  { version, hasEnded, resumedAt }: { version: number; hasEnded: boolean; resumedAt: number | null },
): boolean {
  if (!shown) return true;
  if (version === 0) return hasEnded || (resumedAt !== null && shown.at < resumedAt);
  return version === shown.version ? hasEnded : version > shown.version;
}

interface Requested {
  executionId: string;
  isResumed?: boolean;
  version?: number;
}

const REFUSED_MS = 50;

/** Executions that succeeded but may still fail when deployments checks for cycles: each check may have another result. */
const CIRCULAR = new Set([1, 3].map(executionIdOf));
const CLOSED = 0.7;

/** `isWhole`: whether all states decided up to a number have been applied. */
export function newDeployments(
  world: VirtualWorld,
  { away: { from, until }, slow, slowMs }: Pick<Conditions, 'away' | 'slow' | 'slowMs'>,
  isWhole: (executionId: string, upTo: number) => boolean,
): DeploymentsPeer {
  const models = new Map<string, DeploymentModel>();
  const applied = new Map<string, number>();
  const answers = new Map<string, Json>();
  const ended: DeploymentsPeer['ended'] = [];
  const agreed: DeploymentsPeer['agreed'] = new Set();
  const shown: DeploymentsPeer['shown'] = new Map();
  const show = (id: string, status: string, told: Parameters<typeof isNews>[1]): void => {
    const known = shown.get(id);
    const version = Math.max(known?.version ?? 0, told.version);
    if (isNews(known, told)) shown.set(id, { status, version, at: world.now });
  };
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
    agreed,
    shown,
    requested({ time, payload }) {
      const { executionId, isResumed, version = 0 } = payload as Requested;
      const resumedAt = isResumed ? world.now + Date.parse(time) - Date.now() : null;
      show(executionId, 'pending', { version, hasEnded: false, resumedAt });
    },
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
          madeBy: null,
          quarantine: '',
        })),
      groupMembers: notUsed,
      owner: notUsed,
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
      executionEnded: ({ executionId, status, lastStateSeq, version }) =>
        ask(() => {
          ended.push({ executionId, isWhole: isWhole(executionId, lastStateSeq) });
          show(executionId, status, { version, hasEnded: true, resumedAt: null });
          if (status !== 'terminated') return '';
          const isFailed = CIRCULAR.has(executionId) && world.random.chance(CLOSED);
          if (!isFailed) agreed.add(executionId);
          return isFailed ? 'its dependencies close a circle' : '';
        }),
    },
  };
}

/** Share of messages to deployments that are late, because of a queue or an absent process; and their maximum delay. */
const LATE = 0.1;
const LATE_MS = 15_000;

/** Delivers a message to deployments at least once: deployments acknowledges each message after processing it. */
export function publishToDeployments(
  world: VirtualWorld,
  deployments: DeploymentsPeer,
  envelope: Envelope,
): void {
  const copies = world.random.chance(world.faults.duplicate) ? 2 : 1;
  for (let i = 0; i < copies; i++) {
    const delay = world.random.below(world.random.chance(LATE) ? LATE_MS : 60);
    world.at(world.now + delay, () => deployments.requested(envelope));
  }
}

/** Publishes through a broker that loses, duplicates and reorders messages. */
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

/** Share of broadcast messages that arrive twice, and share of these that arrive late. */
const TWICE_TO_ALL = 0.5;
const LATE_TO_ALL = 0.4;

/** Delivers a message to all listeners. It sometimes arrives late or twice, as after a reconnect, or not at all. */
export function publishToAll<T extends { process: VirtualProcess }>(
  world: VirtualWorld,
  hearers: readonly T[],
  envelope: Envelope,
  hear: (hearer: T, envelope: Envelope) => void,
): void {
  for (const hearer of hearers) {
    const copies = world.random.chance(TWICE_TO_ALL) ? 2 : 1;
    for (let i = 0; i < copies; i++) {
      if (world.random.chance(world.faults.lose)) continue;
      const delay = world.random.below(world.random.chance(LATE_TO_ALL) ? LATE_MS : 60);
      const { epoch } = hearer.process;
      world.at(world.now + delay, () => {
        if (hearer.process.isUp && hearer.process.epoch === epoch) hear(hearer, envelope);
      });
    }
  }
}

const CALL_TIMEOUT_MS = 2_000;

/** Calls one of `servers` from another process; null: no answer in time, and the work may or may not have been done. */
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
