import type { ModulePlugin, PythonPlugin } from '@baton/plugin-runtime';

/** The uploaded plugins that operations of this worker use. */
export interface InstalledPlugins {
  /**
   * Returns the plugin with that name in the blueprint, and installs it on this machine if needed; null: none has to be
   * installed.
   * @throws FatalError, RetryableError when it cannot be installed
   */
  of(
    tenant: string,
    blueprintId: string,
    name: string,
    signal: AbortSignal,
  ): Promise<PythonPlugin | ModulePlugin | null>;
}
