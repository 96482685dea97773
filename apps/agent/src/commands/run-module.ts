import { createRequire } from 'node:module';
import { hideVariable } from '../config';
import { AgentFailure, exitCodes } from '../exit-codes';

/** Runs a file of JavaScript as Node.js would: processes of TypeScript plugins are started by it. The process goes on. */
export function runModule([file, ...args]: readonly string[]): null {
  if (file === undefined) throw new AgentFailure(exitCodes.usage, 'which file?');
  // Programs that the plugin starts must not read them.
  hideVariable('NODE_OPTIONS');
  process.argv = [process.execPath, file, ...args];
  createRequire(file)(file);
  return null;
}
