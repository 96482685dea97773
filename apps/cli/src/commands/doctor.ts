import { CommandFailure } from '../failure';
import { type Cli, command, option } from '../layer/define';

interface Finding {
  check: string;
  id: string;
  about: string;
  repair: string;
  is_repaired: boolean;
  error: string | null;
}

/** `baton doctor`: finds damage of the stored state, and repairs it with --repair. Damage that is left is a failure. */
export function doctorCommand(cli: Cli): void {
  command(cli, cli.program, {
    name: 'doctor',
    about: 'find what is broken in the stored state',
    uses: ['examine', 'repair'],
    options: [option('--repair', 'repair it')],
    run: async ({ options, client, out }) => {
      const { items } = await client.call(options.repair ? 'repair' : 'examine');
      if (out.isMachine) out.record({ items });
      for (const item of items) out.say(`${item.check}  ${item.id}\n  ${item.about}\n  ${outcomeOf(item)}`);
      const left = items.filter((item) => !item.is_repaired).length;
      if (left > 0) throw new CommandFailure(`${left} of ${items.length} findings are not repaired`);
      out.say(items.length === 0 ? 'Nothing is broken.' : `${items.length} findings, all repaired.`);
    },
  });
}

function outcomeOf(item: Finding): string {
  if (item.error !== null) return `the repair failed: ${item.error}`;
  return item.is_repaired ? `repaired: ${item.repair}` : `--repair: ${item.repair}`;
}
