import type { Command } from 'commander';
import { collect } from '../collect';
import { eventLine } from '../follow';
import { sessionOf } from '../session';

export function eventCommands(program: Command): void {
  const events = program.command('events').description('events and log lines');
  events
    .command('list')
    .description('events of an execution or a deployment')
    .option('-e, --execution <id>', 'execution')
    .option('-d, --deployment <id>', 'deployment')
    .option('--from <time>', 'not before this time, ISO 8601')
    .option('--to <time>', 'before this time, ISO 8601')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const range =
        options.from || options.to ? `timestamp,${options.from ?? ''},${options.to ?? ''}` : undefined;
      const query = { execution_id: options.execution, deployment_id: options.deployment, _range: range };
      const items = await collect(client.all('listEvents', { query }));
      if (out.isJson) out.table(items, []);
      else for (const item of items) out.say(eventLine(item));
    });
}
