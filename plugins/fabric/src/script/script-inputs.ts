import { FatalError } from '@baton/plugin-sdk';
import { environmentOf, textOf } from '../host/environment';
import { isJsonObject } from '../host/is-json-object';
import { Values } from '../host/read-values';

export interface ScriptInputs {
  path: string;
  env: Record<string, string>;
  args: string[];
  prefix: string | undefined;
  cwd: string | undefined;
  baseDir: string | undefined;
  hasCtx: boolean;
}

const OWN_INPUTS = new Set([
  ...['ctx', 'script_path', 'fabric_env', 'process', 'use_sudo', 'hide_output'],
  'non_recoverable_error_exit_codes',
]);

/** Reads the inputs of run_script. Further inputs become variables; those of `process.env` go before them. @throws FatalError */
export function readScriptInputs(inputs: Readonly<Record<string, unknown>>): ScriptInputs {
  const { script_path: path } = inputs;
  if (typeof path !== 'string' || path === '')
    throw new FatalError('script_path: expected a file of the blueprint, or an address');
  const process = new Values(inputs.process, 'process');
  const env = process.any('env') ?? {};
  if (!isJsonObject(env)) throw new FatalError('process.env: expected a dictionary');
  const args = process.any('args') ?? [];
  if (!Array.isArray(args)) throw new FatalError('process.args: expected a list');
  const further = Object.entries(inputs).filter(([name]) => !OWN_INPUTS.has(name));
  return {
    path,
    env: environmentOf({ ...Object.fromEntries(further), ...env }),
    args: args.map(textOf),
    prefix: process.text('command_prefix'),
    cwd: process.text('cwd'),
    baseDir: process.text('base_dir'),
    hasCtx: process.text('ctx_proxy_type') !== 'none',
  };
}
