import type { PluginOperation } from './context';

/** A registered symbol, so that operations marked by another copy of this package are understood. */
const mark: unique symbol = Symbol.for('baton.resumable-operation') as never;

/**
 * Declares that an operation may be run again after its worker was lost in the middle of it, perhaps after it has done
 * its work (`ctx.isResumed` is true then). Without this it is never run again by itself: the operation fails and says
 * why, and whoever has looked resumes the execution.
 */
export function resumable(operation: PluginOperation): PluginOperation {
  const marked: PluginOperation = (ctx, inputs) => operation(ctx, inputs);
  return Object.assign(marked, { [mark]: true });
}

/** Whether the operation was declared by `resumable`. */
export function isResumable(operation: PluginOperation): boolean {
  return (operation as { [mark]?: boolean })[mark] === true;
}
