import type { Command } from 'commander';
import { sessionOf } from '../session';

const COLUMNS = [
  'id',
  'hostname',
  'version',
  'places',
  'held',
  'isolation',
  'is_alive',
  'last_seen',
  'revoked_at',
];

/** `baton workers`: who runs operations; for administrators. */
export function workerCommands(program: Command): void {
  const workers = program.command('workers').alias('worker').description('workers of the manager');
  workers
    .command('list')
    .description('list workers, the last seen ones first')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      const { items } = await client.call('listWorkers');
      out.table(items, COLUMNS);
    });
  workers
    .command('revoke <id>')
    .description('take the credential of a worker back for ever; what it runs goes to others')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const worker = await client.call('revokeWorker', { params: { worker_id: id } });
      out.done(
        `Worker ${id} revoked. It can join again under another id while it knows the join token: change that as well.`,
        worker,
      );
    });
}
