import { type Pieces, whole } from '@baton/kernel';
import type { NodeInstance } from '../model';
import type { LifecycleSubject } from '../subject';
import type { FailureHandler, GraphSpec } from '../task';
import type { WorkflowConfig } from '../workflow';
import {
  addSubgraph,
  type Draft,
  finishDraft,
  finishDraftInPieces,
  keepSubgraph,
  newDraft,
  sequence,
} from './draft';
import { emitLinks, emitOperation } from './emit';
import { installSteps } from './install-steps';
import type { InstanceRelationship, ModelIndex } from './model-index';
import { orderInstances } from './order';
import { readRelationship, readSubject } from './read-subject';
import type { Link } from './steps';
import { uninstallSteps } from './uninstall-steps';

/** Common input for the graphs of a workflow. */
export interface BuildContext {
  ix: ModelIndex;
  config: WorkflowConfig;
  isDryRun: boolean;
}

const IGNORE: FailureHandler = { handler: 'ignore' };

/** Returns the graph of the tasks that `fill` puts into a draft. */
export function graphSpec(context: BuildContext, name: string, fill: (draft: Draft) => void): GraphSpec {
  const draft = newDraft(context.isDryRun);
  fill(draft);
  return specOf(context, name, finishDraft(draft));
}

function specOf({ config, isDryRun }: BuildContext, name: string, tasks: GraphSpec['tasks']): GraphSpec {
  return { name, tasks, waitAfterFailMs: config.waitAfterFailMs, dryRun: isDryRun };
}

export interface LifecycleGraph {
  name: string;
  direction: 'install' | 'uninstall';
  /** Instances whose sequence runs. */
  processed: readonly NodeInstance[];
  /** Instances that do not change; their relationships to processed ones are established or unlinked. */
  intact: readonly NodeInstance[];
  isIgnoringFailure?: boolean;
  /** The sequence of a processed instance; default: the install or uninstall sequence. */
  steps?: (subject: LifecycleSubject) => Link[];
  /** Relationships of intact instances to run in addition to those with processed instances. */
  isModified?: (relationship: InstanceRelationship) => boolean;
}

/** Builds the graph that installs, uninstalls or rolls back `processed` in order (reference workflows.md 1.5 to 1.7). */
export function lifecycleGraph(context: BuildContext, graph: LifecycleGraph): GraphSpec {
  return whole(lifecycleGraphInPieces(context, graph));
}

/** Instances per piece: each has about ten tasks. */
const INSTANCES = 32;

export function* lifecycleGraphInPieces(context: BuildContext, graph: LifecycleGraph): Pieces<GraphSpec> {
  const { ix } = context;
  const draft = newDraft(context.isDryRun);
  const places = new Map<string, number>();
  const processed = new Set(graph.processed.map((i) => i.id));
  for (const [i, instance] of graph.processed.entries()) {
    if (i % INSTANCES === 0) yield;
    places.set(instance.id, addInstance(draft, context, graph, instance));
  }
  for (const [i, instance] of graph.intact.entries()) {
    if (i % INSTANCES === 0) yield;
    if (processed.has(instance.id)) continue;
    places.set(instance.id, addStub(draft, context, graph, instance, processed));
  }
  orderInstances(draft, ix, ix.model.nodeInstances, places, graph.direction);
  return specOf(context, graph.name, yield* finishDraftInPieces(draft));
}

function addInstance(
  draft: Draft,
  context: BuildContext,
  graph: LifecycleGraph,
  instance: NodeInstance,
): number {
  const subject = readSubject(context.ix, context.config, instance);
  const isInstall = graph.direction === 'install';
  const steps = graph.steps ?? (isInstall ? installSteps : uninstallSteps);
  const retries = graph.isIgnoringFailure || graph.steps ? 0 : context.config.subgraphRetries;
  const onFailure: FailureHandler | null =
    retries === 0 ? null : { handler: 'lifecycle-retry', mode: graph.direction, subject };
  const name = isInstall ? `install_${instance.id}` : instance.id;
  const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
  const subgraph = addSubgraph(draft, null, name, of, { totalRetries: retries, onFailure });
  emitLinks(draft, subgraph, subject, steps(subject), { onFailure: graph.isIgnoringFailure ? IGNORE : null });
  return subgraph;
}

/** Adds the subgraph of an intact instance. The unlinking from removed instances must not fail the graph. */
function addStub(
  draft: Draft,
  context: BuildContext,
  graph: LifecycleGraph,
  instance: NodeInstance,
  processed: ReadonlySet<string>,
): number {
  const of = { nodeInstanceId: instance.id, nodeId: instance.node_id };
  const stub = addSubgraph(draft, null, `stub_${instance.id}`, of, { totalRetries: 0, onFailure: null });
  const [operation, onFailure] = graph.direction === 'install' ? ['establish', null] : ['unlink', IGNORE];
  const line = sequence(draft);
  const relationships = [...context.ix.relationshipsOf(instance)];
  if (graph.direction === 'uninstall') relationships.reverse();
  for (const relationship of relationships) {
    if (!processed.has(relationship.target.id) && !graph.isModified?.(relationship)) continue;
    // The unlink is a task even without an implementation: its failure is handled (reference 2.1, NOP tasks).
    if (onFailure) keepSubgraph(draft, stub);
    const { source, target } =
      readRelationship(context.ix, context.config, relationship).operations[operation!] ?? {};
    for (const template of [source, target]) {
      if (template)
        line.add([
          emitOperation(draft, stub, template, {
            onSuccess: null,
            onFailure: onFailure as FailureHandler | null,
          }),
        ]);
    }
  }
  return stub;
}
