import { isAbsolute, join } from 'node:path';
import type { Plugin, PluginOperation, PluginWorkflow } from '@baton/plugin-sdk';
import * as sdk from '@baton/plugin-sdk';

/**
 * Operations and workflows of a module outside this repository's build: `handlers` and `workflows`, each a record by
 * mapping, or a function that gets the SDK and answers one (a plain module cannot import it).
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

/** What was loaded, or why not; nothing is asked for without `path`. */
export interface LoadedHandlers {
  plugins: Plugin[];
  /** One line, for `status` and `why`; null: all is well. */
  problem: string | null;
}

/**
 * A worker whose handlers cannot be loaded does not end: it would be started again for ever, and nobody would be told why.
 * It says so, is not ready and takes nothing.
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
