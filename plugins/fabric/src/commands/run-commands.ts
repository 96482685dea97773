import { directOperation, FatalError } from '@baton/plugin-sdk';
import { atHost } from '../host/at-host';

/**
 * Runs commands at a host, one after another, each in a shell of its own. The first one that fails ends the operation.
 * @throws FatalError for wrong inputs and listed exit codes; RetryableError for other exit codes and lost connections
 */
export const runCommands = directOperation({
  run: async (scope) => {
    const commands = readCommands(scope.inputs.commands);
    return await atHost(scope, async ({ connection, options, showsCommands }) => {
      for (const command of commands) {
        if (showsCommands) scope.log.info(`Running command: ${command}`);
        await connection.run(command, options);
      }
      return null;
    });
  },
});

function readCommands(given: unknown): string[] {
  const commands = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(commands) || commands.length === 0)
    throw new FatalError('commands: expected a list with at least one command');
  return commands.map((command: unknown, at) => {
    if (typeof command === 'string' && command.trim() !== '') return command;
    throw new FatalError(`commands[${at}]: expected a text`);
  });
}
