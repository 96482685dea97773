import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { collect } from '../collect';
import { sessionOf } from '../session';

const COLUMNS = ['key', 'visibility', 'is_hidden_value', 'created_at', 'updated_at', 'created_by'];

export function secretCommands(program: Command): void {
  const secrets = program.command('secrets').alias('secret').description('secrets of the tenant');
  secrets
    .command('create <key>')
    .description('store a secret')
    .option('-s, --value <value>', 'value; it stays in the history of the shell, a file does not')
    .option('--file <path>', 'file that holds the value; - = standard input')
    .option('-u, --update', 'replace the value when it exists')
    .option('--hidden', 'show the value only to the creator and administrators')
    .option('--visibility <visibility>', 'private, tenant or global', 'tenant')
    .action(async (key: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('putSecret', {
        params: { secret_key: key },
        body: {
          value: secretValue(options),
          update_if_exists: options.update ?? false,
          is_hidden_value: options.hidden ?? false,
          visibility: options.visibility,
        },
        query: { _include: 'key' },
      });
      out.done(`Secret ${key} stored.`, { key });
    });
  secrets
    .command('list')
    .description('list secrets without their values')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      out.table(
        await collect(client.all('listSecrets', { query: { _include: COLUMNS.join(',') } })),
        COLUMNS,
      );
    });
  secrets
    .command('get <key>')
    .description('show a secret with its value')
    .action(async (key: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      out.record(await client.call('getSecret', { params: { secret_key: key } }), [...COLUMNS, 'value']);
    });
  secrets
    .command('delete <key>')
    .description('delete a secret')
    .action(async (key: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('deleteSecret', { params: { secret_key: key } });
      out.done(`Secret ${key} deleted.`, { key });
    });
}

function secretValue(options: { value?: string; file?: string }): string {
  if ((options.value === undefined) === (options.file === undefined))
    throw new Error('give --value or --file, one of them');
  if (options.value !== undefined) return options.value;
  return readFileSync(options.file === '-' ? 0 : options.file!, 'utf8').replace(/\n$/, '');
}
