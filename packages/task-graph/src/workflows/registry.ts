import { type Pieces, whole } from '@baton/kernel';
import type { Stage, StageResult, WorkflowInput } from '../workflow';
import { installNewAgents, validateAgents } from './agents';
import { checkDrift, checkStatus } from './checks';
import { heal } from './heal';
import { install, reinstall, uninstall } from './lifecycle';
import { executeOperation, pull, restart, start, stop } from './operations';
import { type EndStage, failed, newRun, type PlannedStage, type Program, type Run } from './program';
import { assume, harmless, rehearsedRun } from './rehearse';
import { rollback } from './rollback';
import { scale } from './scale';
import { update } from './update';
import { updateDeployment } from './update-deployment';

interface Builtin {
  program: (run: Run) => Program;
  /** Whether an explicit resume is allowed (reference workflows.md 1.4). */
  isResumable: boolean;
}

const resumable = (program: Builtin['program']): Builtin => ({ program, isResumable: true });

/** Programs by the name of the workflow in the built-in types. */
const BUILTINS: { [name: string]: Builtin } = {
  install: resumable(install),
  uninstall: resumable(uninstall),
  reinstall: resumable(reinstall),
  start: resumable(start),
  stop: resumable(stop),
  restart: resumable(restart),
  execute_operation: resumable(executeOperation),
  pull: resumable(pull),
  heal: { program: heal, isResumable: false },
  scale: resumable(scale),
  check_status: resumable(checkStatus),
  check_drift: resumable(checkDrift),
  rollback: resumable(rollback),
  install_new_agents: resumable(installNewAgents),
  validate_agents: resumable(validateAgents),
  update: { program: update, isResumable: false },
  csys_update_deployment: { program: updateDeployment, isResumable: false },
};

/** Functions whose name differs from their workflow's. */
const FUNCTIONS: { [name: string]: string } = {
  auto_heal_reinstall_node_subgraph: 'heal',
  scale_entity: 'scale',
};

const PREFIX = 'cloudify.plugins.workflows.';

/**
 * Returns the built-in program that a workflow of a plan maps to, or null for a workflow of a plugin. (`update` and
 * `csys_update_deployment`, which are in no plan, have these names.)
 */
export function builtinOf(workflow: { plugin: string; operation: string }): string | null {
  if (!workflow.plugin.endsWith('default_workflows') || !workflow.operation.startsWith(PREFIX)) return null;
  const tail = workflow.operation.slice(PREFIX.length);
  const name = Object.hasOwn(FUNCTIONS, tail) ? FUNCTIONS[tail]! : tail;
  return Object.hasOwn(BUILTINS, name) ? name : null;
}

export function isResumable(builtin: string): boolean {
  return Object.hasOwn(BUILTINS, builtin) && BUILTINS[builtin]!.isResumable;
}

/**
 * Returns the stage that follows `history` in the built-in workflow `builtin` (see `builtinOf`). Pure: the same history
 * gives the same stage as long as the model is the same. On a resume the caller leaves out the last result if it was a
 * failure: that stage goes on.
 */
export function nextStage(builtin: string, input: WorkflowInput, history: readonly StageResult[]): Stage {
  return whole(nextStageInPieces(builtin, input, history));
}

export function* nextStageInPieces(
  builtin: string,
  input: WorkflowInput,
  history: readonly StageResult[],
): Pieces<Stage> {
  const next = replay(builtin, input.isRehearsal ? rehearsedRun(input) : newRun(input), history);
  if (!('make' in next)) return next;
  const stage = next.pieces ? yield* next.pieces() : next.make();
  return input.isRehearsal ? harmless(stage) : stage;
}

/**
 * Returns the end of the workflow when `history` alone decides it; null: the end or the next stage needs the model.
 * Most workflows have one graph. To read a large model only to find that no stage follows costs as much as a start.
 */
export function endWithoutModel(
  builtin: string,
  input: Omit<WorkflowInput, 'model'>,
  history: readonly StageResult[],
): EndStage | null {
  const run: Run = {
    input: {
      ...input,
      get model(): never {
        throw new ModelNeeded();
      },
    },
    parameters: input.parameters,
    get ix(): never {
      throw new ModelNeeded();
    },
    get context(): never {
      throw new ModelNeeded();
    },
    isAssuming: false,
    reindex: () => undefined,
  };
  try {
    const next = replay(builtin, run, history);
    return 'make' in next ? null : next;
  } catch (error) {
    if (error instanceof ModelNeeded) return null;
    throw error;
  }
}

class ModelNeeded extends Error {}

/** Returns the stage or end that follows `history`. */
function replay(builtin: string, run: Run, history: readonly StageResult[]): PlannedStage | EndStage {
  if (!Object.hasOwn(BUILTINS, builtin))
    return failed('RuntimeError', `No built-in workflow is called ${builtin}`);
  const { program, isResumable } = BUILTINS[builtin]!;
  if (run.input.resume && !isResumable) {
    return failed('NonRecoverableError', `Cannot resume - workflow not resumable: ${builtin}`);
  }
  const running = program(run);
  let at = running.next();
  for (const result of history) {
    if (at.done) return at.value;
    if (at.value.name !== result.name) {
      return failed(
        'RuntimeError',
        `The stored stage ${result.name} does not fit: ${at.value.name} comes here`,
      );
    }
    if (run.input.isRehearsal) assume(run, at.value, result);
    at = running.next(result);
  }
  return at.value;
}
