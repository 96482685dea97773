import { FatalError } from '@baton/plugin-sdk';
import { installed } from '../install/installed';
import type { ModuleScope } from '../module/schema';

/**
 * The program that runs the module: the input, what run_on_host has given, the property `binary`, or terraform on the PATH.
 * @throws FatalError when an installation cannot be had
 */
export async function binaryOf(
  scope: Pick<ModuleScope, 'inputs' | 'runtime' | 'properties' | 'log' | 'http'>,
): Promise<string> {
  const { inputs, runtime, properties } = scope;
  for (const given of [inputs.executable_path, inputs.binary, runtime.executable_path]) {
    if (given === undefined || given === null || given === '') continue;
    if (typeof given !== 'string') throw new FatalError('executable_path: expected the path of a program');
    return given;
  }
  if (runtime.installation) return await installed(scope, runtime.installation);
  return properties.binary ?? 'terraform';
}
