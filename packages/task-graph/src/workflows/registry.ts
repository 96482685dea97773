import type { Stage, StageResult, WorkflowInput } from '../workflow';
import { install, reinstall, uninstall } from './lifecycle';
import { executeOperation, pull, restart, start, stop } from './operations';
import { failed, newRun, type Program, type Run } from './program';

interface Builtin {
  program: (run: Run) => Program;
  /** Whether an explicit resume is allowed (reference workflows.md 1.4). */
  isResumable: boolean;
}

const resumable = (program: Builtin['program']): Builtin => ({ program, isResumable: true });

/** By the name of the function that a plan's workflow maps to, behind `cloudify.plugins.workflows.`. */
const BUILTINS: { [name: string]: Builtin } = {
  install: resumable(install),
  uninstall: resumable(uninstall),
  reinstall: resumable(reinstall),
  start: resumable(start),
  stop: resumable(stop),
  restart: resumable(restart),
  execute_operation: resumable(executeOperation),
  pull: resumable(pull),
};

const PREFIX = 'cloudify.plugins.workflows.';

/**
 * The built-in program that a workflow of a plan stands for, or null when it is a plugin's own. `update` has no entry
 * in plans and is known by its name.
 */
export function builtinOf(operation: string): string | null {
  const name = operation.startsWith(PREFIX) ? operation.slice(PREFIX.length) : operation;
  return Object.hasOwn(BUILTINS, name) ? name : null;
}

export function isResumable(builtin: string): boolean {
  return Object.hasOwn(BUILTINS, builtin) && BUILTINS[builtin]!.isResumable;
}

/**
 * The stage that follows `history` in the built-in workflow `builtin` (see `builtinOf`). Pure: the same history gives
 * the same stage as long as the model is the same. On a resume leave out the last result if it was a failure: that
 * stage goes on.
 */
export function nextStage(builtin: string, input: WorkflowInput, history: readonly StageResult[]): Stage {
  if (!Object.hasOwn(BUILTINS, builtin)) return failed('RuntimeError', `No built-in workflow is called ${builtin}`);
  const { program, isResumable } = BUILTINS[builtin]!;
  if (input.resume && !isResumable) {
    return failed('NonRecoverableError', `Cannot resume - workflow not resumable: ${builtin}`);
  }
  const running = program(newRun(input));
  let at = running.next();
  for (const result of history) {
    if (at.done) return at.value;
    if (at.value.name !== result.name) {
      return failed('RuntimeError', `The stored stage ${result.name} does not fit: ${at.value.name} comes here`);
    }
    at = running.next(result);
  }
  return at.done ? at.value : at.value.make();
}
