import { dirname, join } from 'node:path';
import type { Confinement } from '@baton/isolation';
import { runProcess } from './run-process';
import { makeRunDir, type ScriptSettings } from './settings';

/** A plugin to install into the folder `target`, which must not exist. */
export interface PluginInstallation {
  /** Tenant whose operations use the plugin: a build by pip runs with their rights. */
  tenant: string;
  /** `wagon`: an archive of wheels, which are unpacked. `source`: a folder that pip builds, which runs code of the plugin. */
  kind: 'wagon' | 'source';
  path: string;
  target: string;
  /** Further arguments of pip. */
  pipArguments: string;
}

/**
 * Installs a Python plugin into a virtual environment. Returns null, or the error text. Two installations at once are
 * harmless: the first one wins.
 */
export async function installPlugin(
  { tenant, kind, path, target, pipArguments }: PluginInstallation,
  settings: ScriptSettings,
  signal: AbortSignal,
): Promise<string | null> {
  // Unpacking runs no code of the plugin: the files then belong to the worker, and scripts cannot change them.
  const account = kind === 'wagon' ? null : settings.isolation.accountOf(tenant);
  const runDir = await makeRunDir(settings.workRoot, account);
  const confinement: Confinement | null =
    kind === 'wagon'
      ? null
      : { tenant, tmp: runDir.tmp, writable: [runDir.path, dirname(target), dirname(path)], readable: [] };
  try {
    const end = await runProcess(
      {
        command: {
          program: settings.python,
          args: ['-B', join(settings.assetsDir, 'python/baton_install.py'), kind, path, target, pipArguments],
        },
        cwd: runDir.cwd,
        confinement,
        env: { ...settings.baseEnv, TMPDIR: runDir.tmp, PYTHONIOENCODING: 'utf-8' },
        logStdout: false,
        logStderr: true,
        stderrToStdout: false,
      },
      settings,
      signal,
      { started: () => undefined, line: () => undefined, cut: (_, at) => at },
    );
    if (end.code === 0) return null;
    return end.stderr.trim() || `the installation ended with exit code ${end.code}`;
  } finally {
    await runDir.remove();
  }
}
