import { isAbsolute, join } from 'node:path';
import type { Plugin, PluginOperation, PluginWorkflow } from '@baton/plugin-sdk';
import * as sdk from '@baton/plugin-sdk';

/**
 * Loads operations and workflows from a module outside this repository's build: `handlers` and `workflows`, each a record by
 * mapping, or a function that receives the SDK and returns such a record (a plain module cannot import the SDK).
 * @throws Error naming the file when it has no handlers.
 */
export function loadHandlers(path: string): Plugin {
  const file = isAbsolute(path) ? path : join(process.cwd(), path);
  const loaded = require(file) as { handlers?: unknown; workflows?: unknown };
  const handlers =
    typeof loaded.handlers === 'function' ? (loaded.handlers(sdk) as unknown) : loaded.handlers;
  if (typeof handlers !== 'object' || handlers === null) throw new Error(`${file} exports no handlers`);
  const workflows =
    typeof loaded.workflows === 'function' ? (loaded.workflows(sdk) as unknown) : (loaded.workflows ?? {});
  return sdk.definePlugin({
    name: file,
    operations: handlers as Record<string, PluginOperation>,
    workflows: workflows as Record<string, PluginWorkflow>,
  });
}

/** The loaded plugins, or the reason of a failure; without `path` there is neither. */
export interface LoadedHandlers {
  plugins: Plugin[];
  /** One line, for `status` and `why`; null: no problem. */
  problem: string | null;
}

/**
 * Loads the handlers. A worker whose handlers cannot be loaded does not exit: it would be restarted for ever, without showing the
 * reason. It reports the problem, is not ready and takes no operations.
 */
export function tryHandlers(path: string | undefined): LoadedHandlers {
  if (path === undefined) return { plugins: [], problem: null };
  try {
    return { plugins: [loadHandlers(path)], problem: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { plugins: [], problem: `BATON_WORKER_HANDLERS ${path} cannot be loaded: ${reason}` };
  }
}
