import { type Json, type JsonObject, type Pieces, whole } from '@baton/kernel';
import type { BuildContext } from '../build/lifecycle-graph';
import { indexModel, type ModelIndex } from '../build/model-index';
import type { NodeInstance } from '../model';
import type { GraphSpec } from '../task';
import type { CallRequest, Stage, StageLog, StageResult, WorkflowInput } from '../workflow';

/**
 * A workflow as a program that is run again from its beginning for each next stage: every `yield` names a stage and
 * says how to make it; results of stages that have ended are handed in, and only the first one without a result is
 * made. So whatever a maker reads from the model is of now, and must travel in `memo` to be used later.
 */
export type Program = Generator<PlannedStage, EndStage, StageResult>;

/** A part of a program: the end that a failure in it means, or null when the program goes on. */
export type Part = Generator<PlannedStage, EndStage | null, StageResult>;

export type EndStage = Extract<Stage, { kind: 'end' }>;

export interface PlannedStage {
  name: string;
  make: () => Stage;
  /** The same in pieces, where it may take long. */
  pieces?: () => Pieces<Stage>;
}

/** What a program sees: the input with look-ups over its model, made when first asked for. */
export interface Run {
  input: WorkflowInput;
  parameters: JsonObject;
  readonly ix: ModelIndex;
  readonly context: BuildContext;
  /** Graphs are built as a real run would have them, to see what they do. */
  isAssuming: boolean;
  /** The model's instances have changed. */
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

/** The same of a graph that may be large. */
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

/** The end that a failed stage means for its workflow, or null when it did not fail. */
export function failureOf(result: StageResult): EndStage | null {
  if (result.kind === 'graph') {
    return result.outcome.kind === 'failed' ? failed('WorkflowFailed', result.outcome.error) : null;
  }
  return result.error ? failed(result.error.type, result.error.message) : null;
}

/** Run the stage; the end it means when it failed, else null. */
export function* must(stage: PlannedStage): Part {
  return failureOf(yield stage);
}

/** Instances by id, those that are gone left out. */
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
