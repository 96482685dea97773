import { nodeType } from '@baton/plugin-sdk';
import { EVERY_OPERATION, forEveryOperation } from '../every-operation';
import { runCalls } from './run-calls';
import { PROPERTIES, type TerminalScope } from './schema';

const RUN = 'terminal.cloudify_terminal.tasks.run';
const run = async (scope: TerminalScope): Promise<void> => await runCalls(scope);

/** A device with a terminal over SSH: commands line by line, as a person types them. */
export const rawTerminal = nodeType({
  description: 'A device with a terminal over SSH: commands line by line, as a person types them',
  aliases: ['cloudify.terminal.raw'],
  properties: PROPERTIES,
  mappings: forEveryOperation(RUN),
  create: run,
  configure: run,
  start: run,
  stop: run,
  delete: run,
  resumable: EVERY_OPERATION,
});
