import type { AgentSettings } from '@baton/contracts';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';

/** Defaults of `agent_config` (reference/agents.md 1). */
const DEFAULTS = { maxWorkers: 5, logLevel: 'info', logMaxBytes: 5 * 1024 * 1024, logMaxHistory: 7 };
const MOST_WORKERS = 1_000;
const MOST_LOG_BYTES = 1024 * 1024 * 1024;
const MOST_LOG_FILES = 1_000;
const MOST_VARIABLES = 1_000;
const MAX_ENV_LENGTH = 64 * 1024;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LOG_LEVELS = ['debug', 'info', 'warning', 'warn', 'error', 'critical'];

/** Returns `agent_config` with the keys of its `extra` beside the others (reference/agents.md 1). */
export function flatConfig(config: Json | undefined): JsonObject {
  if (!isJsonObject(config)) return {};
  const { extra, ...own } = config;
  return isJsonObject(extra) ? { ...own, ...extra } : own;
}

function wholeNumber(value: Json | undefined, least: number, most: number, otherwise: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return otherwise;
  return Math.min(Math.max(number, least), most);
}

/** Keeps variables with a proper name and a plain value, up to 64 KiB in all. */
function environment(value: Json | undefined): Record<string, string> {
  const env: Record<string, string> = {};
  let length = 0;
  for (const [name, given] of Object.entries(isJsonObject(value) ? value : {}).slice(0, MOST_VARIABLES)) {
    if (!VARIABLE.test(name) || !['string', 'number', 'boolean'].includes(typeof given)) continue;
    const text = String(given);
    length += name.length + text.length;
    if (length > MAX_ENV_LENGTH || text.includes('\0')) break;
    env[name] = text;
  }
  return env;
}

/**
 * Makes the settings of an agent from `agent_config` of its host. A value that cannot be used, such as a function that nobody has
 * evaluated, gives the default. `graceMs`: how long operations go on without a stream.
 */
export function settingsOf(config: Json | undefined, graceMs: number): AgentSettings {
  const flat = flatConfig(config);
  const level = typeof flat.log_level === 'string' ? flat.log_level.toLowerCase() : '';
  const folder = flat.executable_temp_path;
  return {
    maxWorkers: wholeNumber(flat.max_workers, 1, MOST_WORKERS, DEFAULTS.maxWorkers),
    env: environment(flat.env),
    logLevel: LOG_LEVELS.includes(level) ? level : DEFAULTS.logLevel,
    logMaxBytes: wholeNumber(flat.log_max_bytes, 1024, MOST_LOG_BYTES, DEFAULTS.logMaxBytes),
    logMaxHistory: wholeNumber(flat.log_max_history, 0, MOST_LOG_FILES, DEFAULTS.logMaxHistory),
    disconnectGraceMs: graceMs,
    executableTempPath: typeof folder === 'string' && folder.startsWith('/') ? folder : null,
  };
}
