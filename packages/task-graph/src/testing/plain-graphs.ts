import * as fc from 'fast-check';
import type { FailureHandler, GraphSpec, TaskPolicy, TaskSpec } from '../task';
import { fixture } from './fixture';

/** Random graphs that no workflow builds: subgraphs in subgraphs, handlers on any task, dependencies into subgraphs. */

const HANDLERS: (FailureHandler | null)[] = [
  null,
  null,
  null,
  { handler: 'ignore' },
  { handler: 'ignore', silent: true },
  { handler: 'record-status', ends: 'fail' },
  { handler: 'edit-system-properties', nodeInstanceId: 'n_0', edits: [], ends: 'ignore' },
  { handler: 'edit-system-properties', nodeInstanceId: 'n_0', edits: [], ends: 'fail' },
];

const sketch = fc.record({
  kind: fc.constantFrom<'operation' | 'subgraph' | 'event' | 'state'>(
    'operation',
    'operation',
    'operation',
    'subgraph',
    'subgraph',
    'event',
    'state',
  ),
  deps: fc.array(fc.nat(20), { maxLength: 2 }),
  inside: fc.option(fc.nat(8)),
  retries: fc.constantFrom(0, 0, 1, 2),
  handler: fc.constantFrom(...HANDLERS),
});
type Sketch = typeof sketch extends fc.Arbitrary<infer T> ? T : never;

const graphs = fc.record({
  sketches: fc.array(sketch, { minLength: 1, maxLength: 14 }),
  waitAfterFailMs: fc.constantFrom(0, 40, 600_000),
});

export const MODEL = () => fixture({ n: { ops: ['run'] } });

export const plainGraph: fc.Arbitrary<GraphSpec> = graphs.map(({ sketches, waitAfterFailMs }) => {
  const tasks: TaskSpec[] = [];
  for (const one of sketches) tasks.push(taskOf(one, tasks));
  return { name: 'plain', tasks, waitAfterFailMs, dryRun: false };
});

function taskOf({ kind, deps, inside, retries, handler }: Sketch, earlier: readonly TaskSpec[]): TaskSpec {
  const idx = earlier.length;
  const subgraphs = earlier.filter((task) => task.kind === 'subgraph');
  const parent = inside === null || subgraphs.length === 0 ? null : subgraphs[inside % subgraphs.length]!.idx;
  const among = earlier.filter((task) => mayFollow(earlier, parent, task));
  const on = among.length === 0 ? [] : deps.map((n) => among[n % among.length]!.idx);
  const common = { idx, name: `${kind} ${idx}`, deps: [...new Set(on)], subgraph: parent, retryOf: null };
  const of = { nodeInstanceId: 'n_0', nodeId: 'n' };
  const local: TaskPolicy = {
    totalRetries: 0,
    retryIntervalMs: 0,
    onSuccess: null,
    onFailure: null,
    sendTaskEvents: false,
  };
  switch (kind) {
    case 'subgraph': {
      const policy = { ...local, sendTaskEvents: true, onFailure: handler };
      return { ...common, kind, type: 'SubgraphTask', payload: of, policy };
    }
    case 'event':
      return {
        ...common,
        kind: 'node-event',
        type: 'SendNodeEventTask',
        payload: { ...of, event: 'x' },
        policy: local,
      };
    case 'state':
      return {
        ...common,
        kind: 'set-state',
        type: 'SetNodeInstanceStateTask',
        payload: { ...of, state: 'x' },
        policy: local,
      };
    default: {
      const policy = {
        ...local,
        totalRetries: retries,
        retryIntervalMs: 15,
        sendTaskEvents: true,
        onFailure: handler,
      };
      return { ...common, kind: 'operation', type: 'RemoteWorkflowTask', payload: operation(of), policy };
    }
  }
}

/** Members follow members of the same subgraph; top-level tasks may follow any task, also one inside a subgraph. */
function mayFollow(tasks: readonly TaskSpec[], parent: number | null, on: TaskSpec): boolean {
  if (parent !== null) return on.subgraph === parent;
  // Not its own container: that would be a circle. A top-level task has no container.
  return tasks.includes(on);
}

function operation(of: { nodeInstanceId: string; nodeId: string }) {
  return {
    ...of,
    operation: 'x.run',
    implementation: 'm.run',
    plugin: { name: 'p', packageName: null, packageVersion: null },
    executor: 'central_deployment_agent' as const,
    inputs: {},
    inputsTypes: null,
    hasIntrinsicFunctions: false,
    hostId: null,
    relationship: null,
    timeout: null,
    timeoutRecoverable: false,
  };
}
