import type { Command } from 'commander';
import { saveDownload } from '../download';
import { type Cli, command, option } from '../layer/define';
import { fileUpload } from '../upload';

const COLUMNS = ['name', 'size', 'updated_at', 'locked_by', 'sha256'];
const byLock = option('--lock-id <id>', 'the lock that you have');

/** `baton node-instances files|get-file|put-file|...`: files of a node instance, such as a state of Terraform. */
export function instanceFileCommands(cli: Cli, instances: Command): void {
  command(cli, instances, {
    name: 'files <id>',
    about: 'list the files of a node instance, and who has locked them',
    uses: ['listNodeInstanceFiles'],
    options: [],
    run: async ({ args: [id], client, out }) => {
      const { items } = await client.call('listNodeInstanceFiles', { params: { id } });
      const rows = items.map(({ lock, ...file }) => ({ ...file, locked_by: lock?.holder ?? null }));
      out.table(rows, COLUMNS, { name: 'name' });
    },
  });
  command(cli, instances, {
    name: 'get-file <id> <name> [file]',
    about: 'download a file of a node instance',
    uses: ['getNodeInstanceFile'],
    options: [],
    run: async (run) => {
      const [id, name, target] = run.args;
      const download = await run.client.download('getNodeInstanceFile', { params: { id, name } });
      await saveDownload(run, download, target, String(name));
    },
  });
  command(cli, instances, {
    name: 'put-file <id> <name> <file>',
    about: 'write a file of a node instance; a locked one only with the id of its lock',
    uses: ['putNodeInstanceFile'],
    options: [byLock],
    run: async ({ args: [id, name, file], options, client, out, io }) => {
      await client.upload('putNodeInstanceFile', {
        params: { id, name },
        query: { lock_id: options.lockId },
        content: fileUpload(io, file),
      });
      out.done(`${name} written.`, { name }, { name: 'name' });
    },
  });
  command(cli, instances, {
    name: 'delete-file <id> <name>',
    about: 'remove a file of a node instance',
    uses: ['deleteNodeInstanceFile'],
    options: [byLock],
    run: async ({ args: [id, name], options, client, out }) => {
      await client.call('deleteNodeInstanceFile', {
        params: { id, name },
        query: { lock_id: options.lockId },
      });
      out.done(`${name} removed.`, { name }, { name: 'name' });
    },
  });
  lockCommands(cli, instances);
}

function lockCommands(cli: Cli, instances: Command): void {
  command(cli, instances, {
    name: 'lock-file <id> <name>',
    about: 'take or renew the lock of a file, so that operations leave it alone',
    uses: ['lockNodeInstanceFile'],
    options: [
      option('--lock-id <id>', 'a text that you choose').makeOptionMandatory(),
      option('--holder <text>', 'who you are, and what for'),
      option('--seconds <n>', 'time until it is free by itself').argParser(Number),
    ],
    run: async ({ args: [id, name], options, client, out }) => {
      const { lockId, holder = '', seconds = 60 } = options;
      const body = { lock_id: lockId, holder, seconds };
      const file = await client.call('lockNodeInstanceFile', { params: { id, name }, body });
      out.done(`${name} locked until ${file.lock?.expires_at}.`, file);
    },
  });
  command(cli, instances, {
    name: 'unlock-file <id> <name>',
    about: 'give a lock back; without --lock-id the lock is broken, whoever has it',
    uses: ['unlockNodeInstanceFile'],
    options: [byLock],
    run: async ({ args: [id, name], options, client, out }) => {
      await client.call('unlockNodeInstanceFile', {
        params: { id, name },
        query: { lock_id: options.lockId },
      });
      out.done(`${name} unlocked.`, { name }, { name: 'name' });
    },
  });
}
