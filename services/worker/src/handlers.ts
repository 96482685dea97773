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
