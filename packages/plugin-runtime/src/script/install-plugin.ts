import { join } from 'node:path';
import { runProcess } from './run-process';
import { makeRunDir, type ScriptSettings } from './settings';

/** A plugin to be installed into the folder `target`, which must not exist. */
export interface PluginInstallation {
  /** `wagon`: an archive with wheels, which are unpacked; `source`: a folder that pip builds, which runs code of it. */
  kind: 'wagon' | 'source';
  path: string;
  target: string;
  /** Further arguments of pip. */
  pipArguments: string;
}

/**
 * Installs a Python plugin into a virtual environment; null, or what went wrong. Two at once are harmless: the first wins.
 */
export async function installPlugin(
  { kind, path, target, pipArguments }: PluginInstallation,
  settings: ScriptSettings,
  signal: AbortSignal,
): Promise<string | null> {
  // Unpacking runs nothing of the plugin: then its files are the worker's, and scripts cannot change them.
  const account = kind === 'wagon' ? null : settings.account;
  const runDir = await makeRunDir({ workRoot: settings.workRoot, account });
  try {
    const end = await runProcess(
      {
        command: {
          program: settings.python,
          args: ['-B', join(settings.assetsDir, 'python/baton_install.py'), kind, path, target, pipArguments],
        },
        cwd: join(runDir.path, 'cwd'),
        env: { ...settings.baseEnv, TMPDIR: join(runDir.path, 'tmp'), PYTHONIOENCODING: 'utf-8' },
        logStdout: false,
        logStderr: true,
        stderrToStdout: false,
      },
      { guard: settings.guard, account },
      signal,
      { started: () => undefined, line: () => undefined, cut: (_, at) => at },
    );
    if (end.code === 0) return null;
    return end.stderr.trim() || `the installation ended with exit code ${end.code}`;
  } finally {
    await runDir.remove();
  }
}
