import { type Json, type JsonObject, type Pieces, whole } from '@baton/kernel';
import type { BuildContext } from '../build/lifecycle-graph';
import { indexModel, type ModelIndex } from '../build/model-index';
import type { NodeInstance } from '../model';
import type { GraphSpec } from '../task';
import type { CallRequest, Stage, StageLog, StageResult, WorkflowInput } from '../workflow';

/**
 * A workflow as a program that is run again from its beginning for each next stage. Every `yield` names a stage and has
 * a function to make it. Results of ended stages are passed in; only the first stage without a result is made. So data
 * that a maker reads from the model is current, and must be stored in `memo` for later use.
 */
export type Program = Generator<PlannedStage, EndStage, StageResult>;

/** A part of a program. Returns the end of the workflow when the part failed, or null when the program goes on. */
export type Part = Generator<PlannedStage, EndStage | null, StageResult>;

export type EndStage = Extract<Stage, { kind: 'end' }>;

export interface PlannedStage {
  name: string;
  make: () => Stage;
  /** The same in pieces, for a stage that may take long to make. */
  pieces?: () => Pieces<Stage>;
}

/** Data for a program: the input, with look-ups over its model that are made on first use. */
export interface Run {
  input: WorkflowInput;
  parameters: JsonObject;
  readonly ix: ModelIndex;
  readonly context: BuildContext;
  /** Builds graphs as in a real run, to find out their effects. */
  isAssuming: boolean;
  /** To be called after a change of the model's instances. */
  reindex(): void;
}

export function newRun(input: WorkflowInput): Run {
  let ix: ModelIndex | null = null;
  const run: Run = {
    input,
    parameters: input.parameters,
    get ix() {
      return (ix ??= indexModel(input.model));
    },
    get context() {
      return { ix: run.ix, config: input.config, isDryRun: input.dryRun && !run.isAssuming };
    },
    isAssuming: false,
    reindex: () => void (ix = null),
  };
  return run;
}

export const SUCCEEDED: EndStage = { kind: 'end', outcome: 'succeeded' };

export function failed(type: string, message: string): EndStage {
  return { kind: 'end', outcome: 'failed', error: { type, message } };
}

export interface GraphParts {
  spec: GraphSpec;
  memo?: Json;
  log?: StageLog[];
}

/** A stage that runs one graph; `make` may decide to end the workflow instead. */
export function graphStage(name: string, make: () => GraphParts | EndStage): PlannedStage {
  return {
    name,
    make: () => {
      const made = make();
      return 'spec' in made ? { kind: 'graph', name, ...made } : made;
    },
  };
}

/** Like `graphStage`, for a graph that may be large. */
export function largeGraphStage(name: string, make: () => Pieces<GraphParts>): PlannedStage {
  function* pieces(): Pieces<Stage> {
    return { kind: 'graph', name, ...(yield* make()) };
  }
  return { name, make: () => whole(pieces()), pieces };
}

export interface CallParts {
  request: CallRequest;
  memo?: Json;
  log?: StageLog[];
}

export function callStage(name: string, make: () => CallParts | EndStage): PlannedStage {
  return {
    name,
    make: () => {
      const made = make();
      return 'request' in made ? { kind: 'call', name, ...made } : made;
    },
  };
}

/** The end of the workflow after a failed stage; null when the stage did not fail. */
export function failureOf(result: StageResult): EndStage | null {
  if (result.kind === 'graph') {
    return result.outcome.kind === 'failed' ? failed('WorkflowFailed', result.outcome.error) : null;
  }
  return result.error ? failed(result.error.type, result.error.message) : null;
}

/** Runs the stage. Returns the end of the workflow when the stage failed, else null. */
export function* must(stage: PlannedStage): Part {
  return failureOf(yield stage);
}

/** Instances by id, without those that no longer exist. */
export function instancesOf(run: Run, ids: Iterable<string>): NodeInstance[] {
  return [...ids].flatMap((id) => run.ix.instances.get(id) ?? []);
}

export function flag(run: Run, name: string, otherwise = false): boolean {
  const value = run.parameters[name];
  return value === undefined || value === null ? otherwise : Boolean(value);
}

export function idsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}
