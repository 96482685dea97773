import type { BaseScope } from '@baton/plugin-sdk';

/** Runtime property of the original plugin: which operations have ended, by full name. */
const FINISHED = '_finished_operations';
const LIFECYCLE = 'cloudify.interfaces.lifecycle';

type Scope = Pick<BaseScope, 'ctx' | 'log'> & {
  readonly runtime: object;
  readonly inputs: Readonly<Record<string, unknown>>;
};

/**
 * Runs `work` unless the operation has ended before and the input `force_rerun` is not set. After stop, start may run again. After
 * delete no runtime property is left.
 */
export async function once(scope: Scope, work: () => Promise<void> | void): Promise<void> {
  const { ctx, log, inputs } = scope;
  const runtime = scope.runtime as Record<string, unknown>;
  const operation = fullName(ctx.operation.name);
  if (inputs.force_rerun !== true && hasFinished(runtime, operation)) {
    log.debug(`Operation ${operation} has already been finished before.`);
    return;
  }
  await work();
  if (operation === `${LIFECYCLE}.delete`) {
    for (const name of Object.keys(runtime)) delete runtime[name];
    return;
  }
  markFinished(runtime, operation);
  if (operation === `${LIFECYCLE}.stop`) markFinished(runtime, 'start', false);
}

/** Remembers that an operation of the lifecycle has ended. */
export function markFinished(runtime: object, operation: string, isFinished = true): void {
  Object.assign(runtime, { [FINISHED]: { ...finished(runtime), [fullName(operation)]: isFinished } });
}

/** Whether an operation of the lifecycle has ended. */
export const hasFinished = (runtime: object, operation: string): boolean =>
  finished(runtime)[fullName(operation)] === true;

const fullName = (operation: string): string =>
  operation.includes('.') ? operation : `${LIFECYCLE}.${operation}`;

const finished = (runtime: object): Record<string, unknown> =>
  ({ ...((runtime as Record<string, unknown>)[FINISHED] ?? {}) }) as Record<string, unknown>;
