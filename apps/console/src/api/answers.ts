/** Names for answer types of the API, taken from the client's types. */
import type { AnswerOf, Schemas } from '@baton/client';

export type Session = Schemas['Session'];
/** Effects of deleting a deployment. */
export type Impact = Schemas['DeploymentImpact'];
/** Node instances that differ from their expected state. */
export type Drift = Schemas['DeploymentDrift'];
export type WaitReason = AnswerOf<'explainExecution'>['waiting_for'][number];

type Graph = AnswerOf<'getExecutionGraph'>;
type Operation = Graph['graphs'][number]['operations'][number];

/** One task of `/executions/:id/graph`, without its parameters. What the manager does not know is null. */
export type Task = Operation & Required<Pick<Operation, 'id' | 'name' | 'state' | 'type' | 'dependencies'>>;
export type TaskGraph = Omit<Graph['graphs'][number], 'operations'> & { operations: Task[] };
/** The part of the graph that screens read. */
export type ExecutionGraph = Pick<
  Graph,
  'execution_id' | 'status' | 'version' | 'is_planned' | 'is_whole' | 'error' | 'stages'
> & { graphs: TaskGraph[] };
