import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';

/** Inputs of `script_runner.tasks.run`, separated (reference/workflows.md 5.2). */
export interface ScriptInputs {
  source: { kind: 'inline'; text: string } | { kind: 'path'; path: string };
  /** PEM certificates for the https server that delivers the script. */
  caPem: string | null;
  process: ProcessOptions;
  /** The other inputs: variables of the script. */
  variables: JsonObject;
}

export interface ProcessOptions {
  cwd: string | null;
  env: JsonObject;
  args: string[];
  commandPrefix: string | null;
  /** Null: decided by the name or text of the script. */
  evalPython: boolean | null;
  hasCtxProxy: boolean;
  logStdout: boolean;
  logStderr: boolean;
  stderrToStdout: boolean;
}

const OPTION_NAMES = [
  'cwd',
  'env',
  'args',
  'command_prefix',
  'eval_python',
  'ctx_proxy_type',
  'log_stdout',
  'log_stderr',
  'stderr_to_stdout',
];
const OWN_INPUTS = new Set(['ctx', 'script_path', 'script_source', 'process', 'ssl_cert_content']);
const PROXY_TYPES = ['auto', 'http', 'none'];

/** @throws FatalError that names the wrong input and the expected value. */
export function readScriptInputs(inputs: Readonly<JsonObject>): ScriptInputs {
  const { script_path: path, script_source: text, ssl_cert_content: caPem } = inputs;
  if (!path && !text) throw new FatalError('Either script_path or script_source must be provided');
  if (path && text) throw new FatalError('Only provide script_path or script_source, not both');
  const given = path || text;
  if (typeof given !== 'string')
    throw new FatalError(`${path ? 'script_path' : 'script_source'} must be a string`);
  return {
    source: path ? { kind: 'path', path: given } : { kind: 'inline', text: dedent(given) },
    caPem: typeof caPem === 'string' && caPem !== '' ? caPem : null,
    process: readProcessOptions(inputs.process ?? {}),
    variables: Object.fromEntries(Object.entries(inputs).filter(([name]) => !OWN_INPUTS.has(name))),
  };
}

function readProcessOptions(options: Json): ProcessOptions {
  if (!isJsonObject(options))
    throw new FatalError(`process must be a dictionary with some of: ${OPTION_NAMES.join(', ')}`);
  const expected = (name: string, what: string): FatalError =>
    new FatalError(`process.${name} must be ${what}`);
  const flag = (name: string, otherwise: boolean | null): boolean | null => {
    const value = options[name] ?? otherwise;
    if (value === null || typeof value === 'boolean') return value;
    throw expected(name, 'true or false');
  };
  const text = (name: string): string | null => {
    const value = options[name] ?? null;
    if (value === null || typeof value === 'string') return value || null;
    throw expected(name, 'a string');
  };
  const env = options.env ?? {};
  if (!isJsonObject(env)) throw expected('env', 'a dictionary');
  const args = options.args ?? [];
  if (!Array.isArray(args)) throw expected('args', 'a list');
  const proxy = text('ctx_proxy_type') ?? 'auto';
  if (!PROXY_TYPES.includes(proxy))
    throw new FatalError(`Unsupported proxy type: ${proxy}; expected auto, http or none`);
  return {
    cwd: text('cwd'),
    env,
    args: args.map(environmentText),
    commandPrefix: text('command_prefix'),
    evalPython: flag('eval_python', null),
    hasCtxProxy: proxy !== 'none',
    logStdout: flag('log_stdout', true) === true,
    logStderr: flag('log_stderr', true) === true,
    stderrToStdout: flag('stderr_to_stdout', false) === true,
  };
}

/** Returns a value as the text of an environment variable: JSON for objects, lists and booleans, `None` for null. */
function environmentText(value: Json): string {
  if (value === null) return 'None';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** Returns a set of values as environment variables; names that no process can have are left out. */
export function environmentOf(values: Readonly<JsonObject>): Record<string, string> {
  const usable = Object.entries(values).filter(([name]) => name !== '' && !/[=\0]/.test(name));
  return Object.fromEntries(
    usable.map(([name, value]) => [name, environmentText(value).replaceAll('\0', '')]),
  );
}

/** Removes the white space at the begin of lines that all lines with text share. */
function dedent(text: string): string {
  const lines = text.split('\n');
  const indents = lines.filter((l) => l.trim() !== '').map((l) => /^[ \t]*/.exec(l)?.[0] ?? '');
  let shared = indents[0] ?? '';
  for (const indent of indents) while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
  return lines.map((l) => (l.trim() === '' ? l.trimStart() : l.slice(shared.length))).join('\n');
}
