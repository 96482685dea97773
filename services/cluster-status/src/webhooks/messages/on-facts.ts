/**
 * The facts that become events of webhooks. Each handler gives an event an id that the same fact always has, so that a message that
 * comes twice writes nothing twice.
 */
import {
  blueprintDeleted,
  deploymentCreated,
  deploymentDeleted,
  deploymentDriftChanged,
  deploymentUpdated,
  type Envelope,
  executionStatusChanged,
  groupDeploymentsCreated,
  type MessageType,
  type SentEventType,
  uploadEnded,
} from '@baton/contracts';
import type { Json } from '@baton/kernel';
import { type ConsumerPart, consumerPart } from '@baton/service-runtime';
import { type TellDeps, tellEvents } from '../commands/tell-event';
import type { WebhookEvent } from '../domain/event';

const QUEUE = 'cluster-status-webhooks';
const PREFETCH = 16;

interface Fact {
  type: SentEventType;
  data: Record<string, Json>;
  /** Default: the time of the message. */
  time?: string;
  /** Distinguishes several facts of one message. */
  part?: string;
}

/** Consumers of all facts that webhooks tell. */
export function onFacts(deps: TellDeps): ConsumerPart[] {
  const consumer = <T>(message: MessageType<T>, factsOf: (payload: T) => Fact[]): ConsumerPart =>
    consumerPart(message, {
      queue: QUEUE,
      prefetch: PREFETCH,
      handler: (envelope) =>
        tellEvents(deps, envelope.id, envelope.tenant, factsOf(envelope.payload).map(eventOf(envelope))),
    });
  return [
    consumer(executionStatusChanged, executionFacts),
    consumer(deploymentCreated, (payload) => [createdFact(payload)]),
    consumer(groupDeploymentsCreated, ({ deployments, createdBy }) =>
      deployments.map((one) => ({ ...createdFact({ ...one, createdBy }), part: one.deploymentId })),
    ),
    consumer(deploymentUpdated, ({ deploymentId, change, blueprintId, updateId }) => [
      {
        type: 'deployment.updated',
        data: {
          deployment_id: deploymentId,
          change,
          blueprint_id: blueprintId ?? null,
          update_id: updateId ?? null,
          link: deploymentLink(deploymentId),
        },
      },
    ]),
    consumer(deploymentDriftChanged, (payload) => [driftFact(payload)]),
    consumer(deploymentDeleted, ({ deploymentId }) => [
      { type: 'deployment.deleted', data: { deployment_id: deploymentId } },
    ]),
    consumer(uploadEnded, ({ blueprintId, status, createdBy, parameters }) => {
      // A validation leaves no blueprint.
      if (status !== 'terminated' || parameters.validate_only === true) return [];
      const link = `/api/v3.1/blueprints/${blueprintId}`;
      return [
        { type: 'blueprint.uploaded', data: { blueprint_id: blueprintId, created_by: createdBy, link } },
      ];
    }),
    consumer(blueprintDeleted, ({ blueprintId }) => [
      { type: 'blueprint.deleted', data: { blueprint_id: blueprintId } },
    ]),
  ];
}

const deploymentLink = (id: string): string => `/api/v3.1/deployments/${id}`;

const eventOf =
  ({ id, time, tenant }: Envelope) =>
  (fact: Fact): WebhookEvent => ({
    id: fact.part === undefined ? id : `${id} ${fact.part}`,
    tenant,
    type: fact.type,
    time: fact.time ?? time,
    data: fact.data,
  });

type Payload<M> = M extends MessageType<infer T> ? T : never;

const EXECUTION_EVENTS = {
  started: 'execution.started',
  terminated: 'execution.finished',
  failed: 'execution.finished',
  cancelled: 'execution.cancelled',
} as const;

function executionFacts(payload: Payload<typeof executionStatusChanged>): Fact[] {
  const { executionId, deploymentId, blueprintId, workflowId, status, createdBy, changedAt } = payload;
  const data = {
    execution_id: executionId,
    deployment_id: deploymentId,
    blueprint_id: blueprintId,
    workflow_id: workflowId,
    status,
    created_by: createdBy,
    link: `/api/v3.1/executions/${executionId}`,
  };
  return [{ type: EXECUTION_EVENTS[status], data, time: changedAt }];
}

function createdFact(of: { deploymentId: string; blueprintId: string; createdBy?: string }): Fact {
  const data = {
    deployment_id: of.deploymentId,
    blueprint_id: of.blueprintId,
    created_by: of.createdBy ?? null,
    link: deploymentLink(of.deploymentId),
  };
  return { type: 'deployment.created', data };
}

/** `status`: whether anything differs now, so that a filter can choose. */
function driftFact(of: Payload<typeof deploymentDriftChanged>): Fact {
  const data = {
    deployment_id: of.deploymentId,
    blueprint_id: of.blueprintId ?? null,
    status: of.driftedInstances > 0 ? 'drifted' : 'in_sync',
    drifted_instances: of.driftedInstances,
    newly_drifted: of.newlyDrifted,
    no_longer_drifted: of.noLongerDrifted,
    link: `${deploymentLink(of.deploymentId)}/drift`,
  };
  return { type: 'deployment.drift_changed', data, time: of.changedAt };
}
