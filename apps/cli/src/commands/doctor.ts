import type { Command } from 'commander';
import { CommandFailure } from '../failure';
import { sessionOf } from '../session';

interface Finding {
  check: string;
  id: string;
  about: string;
  repair: string;
  is_repaired: boolean;
  error: string | null;
}

/** Something is broken and was not repaired. */
const UNHEALTHY_EXIT_CODE = 1;

/** `baton doctor`: finds, and with --repair mends, damage of the stored state. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('find what is broken in the stored state')
    .option('--repair', 'repair it')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const { items } = await client.call(options.repair ? 'repair' : 'examine');
      if (out.isJson) out.record({ items });
      for (const item of items) out.say(`${item.check}  ${item.id}\n  ${item.about}\n  ${outcomeOf(item)}`);
      const left = items.filter((item) => !item.is_repaired).length;
      if (left > 0)
        throw new CommandFailure(`${left} of ${items.length} findings are not repaired`, UNHEALTHY_EXIT_CODE);
      out.say(items.length === 0 ? 'Nothing is broken.' : `${items.length} findings, all repaired.`);
    });
}

function outcomeOf(item: Finding): string {
  if (item.error !== null) return `the repair failed: ${item.error}`;
  return item.is_repaired ? `repaired: ${item.repair}` : `--repair: ${item.repair}`;
}
