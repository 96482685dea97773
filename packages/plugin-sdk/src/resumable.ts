import type { PluginOperation } from './context';

/** A registered symbol, so that operations marked by another copy of this package are understood. */
const mark: unique symbol = Symbol.for('baton.resumable-operation') as never;

/**
 * Declares that an operation may be run again when its worker was lost during a run, even if it had already done its
 * work (`ctx.isResumed` is true then). An operation without this declaration is never run again automatically: it fails
 * with the reason, and a person checks the situation and resumes the execution.
 */
export function resumable(operation: PluginOperation): PluginOperation {
  const marked: PluginOperation = (ctx, inputs) => operation(ctx, inputs);
  return Object.assign(marked, { [mark]: true });
}

/** Whether the operation was declared by `resumable`. */
export function isResumable(operation: PluginOperation): boolean {
  return (operation as { [mark]?: boolean })[mark] === true;
}
