import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client } from '@baton/client';
import type { Command } from 'commander';
import { collect } from '../collect';
import { followExecution } from '../follow';
import type { Printer } from '../output';
import { sessionOf } from '../session';

const COLUMNS = ['id', 'status', 'error', 'created_at', 'created_by'];
/** Between two looks whether a restore still runs, once its own session is over. */
const STATUS_PAUSE_MS = 1_000;
const MEGABYTE = 1024 * 1024;
/** A line of progress after each tenth, or after this much where the whole is not known. */
const STEP_BYTES = 64 * MEGABYTE;

export function snapshotCommands(program: Command): void {
  const snapshots = program
    .command('snapshots')
    .alias('snapshot')
    .description('snapshots of the whole manager');
  createCommand(snapshots);
  listCommand(snapshots);
  downloadCommand(snapshots);
  uploadCommand(snapshots);
  restoreCommand(snapshots);
  deleteCommand(snapshots);
}

const named = (id: string) => ({ snapshot_id: id });

function createCommand(snapshots: Command): void {
  snapshots
    .command('create <id>')
    .description('make a snapshot; executions go on meanwhile')
    .option('--without-events', 'leave events out')
    .option('--without-logs', 'leave log lines out')
    .option('--detach', 'do not wait for the end')
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const body = { include_events: !options.withoutEvents, include_logs: !options.withoutLogs };
      const execution = await client.call('createSnapshot', {
        params: named(id),
        body: body,
      });
      if (options.detach) {
        out.done(`Snapshot ${id} is being made by execution ${execution.id}.`, execution);
        return;
      }
      await followExecution(client, out, execution.id!, { isVerbose: true, timeoutS: 0 });
    });
}

function listCommand(snapshots: Command): void {
  snapshots
    .command('list')
    .description('list snapshots')
    .action(async (_options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { _include: COLUMNS.join(',') };
      out.table(await collect(client.all('listSnapshots', { query })), COLUMNS);
    });
}

function downloadCommand(snapshots: Command): void {
  snapshots
    .command('download <id> [file]')
    .description('download the archive')
    .action(async (id: string, file: string | undefined, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const download = await client.download('downloadSnapshot', { params: named(id) });
      const target = file ?? download.filename ?? `${id}.zip`;
      const content = Readable.fromWeb(download.body);
      await pipeline(content, progress(out, 'downloaded', null), createWriteStream(target));
      out.done(`Archive written to ${target}.`, { file: target });
    });
}

function uploadCommand(snapshots: Command): void {
  snapshots
    .command('upload <path>')
    .description('upload an archive from a file or a URL')
    .requiredOption('--id <id>', 'id of the snapshot')
    .action(async (path: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const isUrl = /^https?:\/\//.test(path);
      const content = isUrl
        ? undefined
        : createReadStream(path).pipe(progress(out, 'uploaded', (await stat(path)).size));
      const snapshot = await client.upload('uploadSnapshot', {
        params: named(options.id),
        query: { snapshot_archive_url: isUrl ? path : undefined },
        content,
      });
      out.done(`Snapshot ${options.id} uploaded.`, snapshot as object);
    });
}

function restoreCommand(snapshots: Command): void {
  snapshots
    .command('restore <id>')
    .description('replace the state of the manager by that of the snapshot')
    .option('-f, --force', 'also when the manager holds something')
    .option('--dry-run', 'verify and rehearse everything, tell what would happen, change nothing')
    .option('--timeout <seconds>', 'wait so long for other executions to end', Number, 300)
    .action(async (id: string, options, command: Command) => {
      const { client, out } = sessionOf(command);
      const body = {
        force: options.force ?? false,
        dry_run: options.dryRun ?? false,
        timeout: options.timeout,
      };
      const execution = await client.call('restoreSnapshot', {
        params: named(id),
        body: body,
      });
      try {
        await followExecution(client, out, execution.id!, { isVerbose: true, timeoutS: 0 });
      } catch (error) {
        // A restore ends every session: who came with a token is a stranger now.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
        await afterSession(client);
        out.done('The restore has ended, and with it this session; log in again to see how.', { id });
      }
    });
}

/** Waits until no restore runs; needs no credentials. */
async function afterSession(client: Client): Promise<void> {
  for (;;) {
    const { status } = await client.call('getSnapshotStatus', {});
    if (status !== 'running') return;
    await pause(STATUS_PAUSE_MS);
  }
}

function deleteCommand(snapshots: Command): void {
  snapshots
    .command('delete <id>')
    .description('delete a snapshot with its archive')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      await client.call('deleteSnapshot', { params: named(id) });
      out.done(`Snapshot ${id} deleted.`, { id });
    });
}

/** Passes bytes on and says how far it is. */
function progress(out: Printer, verb: string, total: number | null): Transform {
  const step = total === null ? STEP_BYTES : Math.max(STEP_BYTES, total / 10);
  let bytes = 0;
  let next = step;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes >= next) {
        next += step;
        const share = total === null ? '' : ` of ${Math.round(total / MEGABYTE)}`;
        out.say(`${Math.round(bytes / MEGABYTE)}${share} MB ${verb}`);
      }
      done(null, piece);
    },
  });
}
