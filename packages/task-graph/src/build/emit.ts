import type { LifecycleSubject, OperationTemplate } from '../subject';
import type { FailureHandler, SuccessHandler } from '../task';
import { addSubgraph, addTask, type Draft, LOCAL_POLICY, type Sequence, sequence } from './draft';
import type { Item, Link } from './steps';

interface EmitOptions {
  /** Handler for every operation; null = retry, then fail. */
  onFailure: FailureHandler | null;
}

/** Makes tasks of `links`, in order, inside `subgraph`. */
export function emitLinks(
  draft: Draft,
  subgraph: number | null,
  subject: Pick<LifecycleSubject, 'instanceId' | 'nodeId'>,
  links: readonly Link[],
  options: EmitOptions,
  line: Sequence = sequence(draft),
): Sequence {
  for (const link of links) line.add(link.map((item) => emitItem(draft, subgraph, subject, item, options)));
  return line;
}

function emitItem(
  draft: Draft,
  subgraph: number | null,
  subject: Pick<LifecycleSubject, 'instanceId' | 'nodeId'>,
  item: Item,
  options: EmitOptions,
): number {
  const of = { nodeInstanceId: subject.instanceId, nodeId: subject.nodeId };
  switch (item.item) {
    case 'event':
      return addTask(draft, subgraph, {
        kind: 'node-event',
        type: 'SendNodeEventTask',
        name: 'send_node_event',
        payload: { ...of, event: item.text },
        policy: LOCAL_POLICY,
      });
    case 'state':
      return addTask(draft, subgraph, {
        kind: 'set-state',
        type: 'SetNodeInstanceStateTask',
        name: 'set_node_instance_state',
        payload: { ...of, state: item.state },
        policy: LOCAL_POLICY,
      });
    case 'operation':
      return emitOperation(draft, subgraph, item.template, { onSuccess: item.onSuccess ?? null, ...options });
    case 'relationships':
      return emitRelationships(draft, subgraph, of, item, options);
  }
}

/** Makes one subgraph for one relationship operation: groups in order, the operations of a group in parallel. */
function emitRelationships(
  draft: Draft,
  parent: number | null,
  of: { nodeInstanceId: string; nodeId: string },
  item: Extract<Item, { item: 'relationships' }>,
  options: EmitOptions,
): number {
  const subgraph = addSubgraph(draft, parent, `${item.operation}_subgraph`, of, {
    totalRetries: 0,
    onFailure: null,
  });
  const line = sequence(draft);
  for (const group of item.groups) {
    line.add(
      group.map((template) => emitOperation(draft, subgraph, template, { onSuccess: null, ...options })),
    );
  }
  return subgraph;
}

export function emitOperation(
  draft: Draft,
  subgraph: number | null,
  template: OperationTemplate,
  handlers: { onSuccess: SuccessHandler | null; onFailure: FailureHandler | null },
): number {
  return addTask(draft, subgraph, {
    kind: 'operation',
    type: draft.isDryRun ? 'DryRunLocalWorkflowTask' : 'RemoteWorkflowTask',
    name: template.payload.implementation,
    payload: template.payload,
    policy: {
      totalRetries: template.totalRetries,
      retryIntervalMs: template.retryIntervalMs,
      sendTaskEvents: true,
      onSuccess: handlers.onSuccess,
      onFailure: handlers.onFailure,
    },
  });
}
