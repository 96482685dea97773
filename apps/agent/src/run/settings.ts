import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type AgentSettings, agentSettings } from '@baton/contracts';
import { isSeenByScripts } from '@baton/worker/parts';
import { type AgentConfig, environment } from '../config';
import type { Places } from '../places';
import { readState, writeState } from './state-file';

const FILE = 'settings.json';
const DEFAULTS: AgentSettings = {
  maxWorkers: 5,
  env: {},
  logLevel: 'info',
  logMaxBytes: 5 * 1024 * 1024,
  logMaxHistory: 7,
  disconnectGraceMs: 900_000,
  executableTempPath: null,
};

/** Returns what the manager has decided for this agent; before its first word the defaults. */
export const readSettings = ({ state }: Places): AgentSettings =>
  readState(state, FILE, agentSettings) ?? DEFAULTS;

/** @throws Error of the disk */
export const writeSettings = ({ state }: Places, settings: AgentSettings): void =>
  writeState(state, FILE, settings);

/** Whether the agent must start again before the new settings count. */
export const needsRestart = (a: AgentSettings, b: AgentSettings): boolean =>
  a.maxWorkers !== b.maxWorkers || a.executableTempPath !== b.executableTempPath;

/** Folder for runs of scripts: another one than that of the agent where programs may not run there. */
export function workRootOf(places: Places, settings: AgentSettings, config: AgentConfig): string {
  const folder = settings.executableTempPath ?? config.executableTempPath ?? null;
  return folder === null ? places.work : join(folder, `baton-agent-${encodeURIComponent(config.name)}`);
}

/** Returns the environment of operations: as the original's agent gives it to its scripts (reference/workflows.md ch. 7). */
export function operationEnv(
  config: AgentConfig,
  places: Places,
  settings: AgentSettings,
  env: Readonly<Record<string, string | undefined>> = environment,
): Record<string, string> {
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => isSeenByScripts(entry[0]) && entry[1] !== undefined,
  );
  const executableTempPath = settings.executableTempPath ?? config.executableTempPath ?? null;
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...Object.fromEntries(passed),
    // Its calls that need the manager wait through a cut, as the operation does.
    CTX_TIMEOUT: String(Math.ceil(settings.disconnectGraceMs / 1000)),
    AGENT_NAME: config.name,
    AGENT_WORK_DIR: places.work,
    AGENT_LOG_DIR: places.log,
    AGENT_LOG_LEVEL: settings.logLevel,
    AGENT_LOG_MAX_BYTES: String(settings.logMaxBytes),
    AGENT_LOG_MAX_HISTORY: String(settings.logMaxHistory),
    CLOUDIFY_DAEMON_USER: userInfo().username,
    CLOUDIFY_DAEMON_STORAGE_DIRECTORY: places.dir,
    ...(executableTempPath !== null && { CFY_EXEC_TEMP: executableTempPath }),
    ...config.env,
    ...settings.env,
  };
}
