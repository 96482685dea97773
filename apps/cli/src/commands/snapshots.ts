import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@baton/client';
import type { Command } from 'commander';
import { saveDownload } from '../download';
import { followExecution } from '../follow';
import type { ClientOf } from '../layer/declared-client';
import { type Cli, command, noun, number, option } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { fileUpload, idFromPath, isUrl } from '../upload';

const SHOWN = {
  columns: ['id', 'status', 'error', 'created_at', 'created_by'],
  wide: ['tenant_name', 'visibility'],
};
/** Pause between two checks whether a restore still runs, once its own session has ended. */
const STATUS_PAUSE_MS = 1_000;
const ALL_EVENTS = { isVerbose: true, timeoutS: 0 };

export function snapshotCommands(cli: Cli): void {
  const snapshots = noun(cli, 'snapshots', {
    alias: 'snapshot',
    about: 'snapshots of the whole manager',
    examples: ['snapshots create monday', 'snapshots restore monday --dry-run'],
  });
  createCommand(cli, snapshots);
  listCommand(cli, snapshots, { ...SHOWN, operation: 'listSnapshots', about: 'list snapshots' });
  getCommand(cli, snapshots, {
    ...SHOWN,
    operation: 'getSnapshot',
    param: 'snapshot_id',
    about: 'show a snapshot',
  });
  fileCommands(cli, snapshots);
  restoreCommand(cli, snapshots);
  deleteCommand(cli, snapshots, {
    operation: 'deleteSnapshot',
    param: 'snapshot_id',
    about: 'delete a snapshot with its archive',
    kind: 'Snapshot',
  });
  callCommand(cli, snapshots, {
    name: 'status',
    about: 'show whether a restore runs; needs no credentials',
    operation: 'getSnapshotStatus',
    isWatched: true,
  });
}

const named = (id: string) => ({ snapshot_id: id });

function createCommand(cli: Cli, snapshots: Command): void {
  command(cli, snapshots, {
    name: 'create <id>',
    about: 'make a snapshot; executions go on meanwhile',
    uses: ['createSnapshot', 'streamEvents'],
    options: [
      option('--without-events', 'leave events out'),
      option('--without-logs', 'leave log lines out'),
      option('--queue', 'wait for another snapshot instead of being refused'),
      option('--detach', 'do not wait for the end'),
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const execution = await client.call('createSnapshot', {
        params: named(args[0]),
        body: {
          include_events: !options.withoutEvents,
          include_logs: !options.withoutLogs,
          queue: options.queue ?? false,
        },
      });
      if (options.detach)
        return out.done(`Snapshot ${args[0]} is being made by execution ${execution.id}.`, execution);
      await followExecution(run, execution.id!, ALL_EVENTS);
    },
  });
}

function fileCommands(cli: Cli, snapshots: Command): void {
  command(cli, snapshots, {
    name: 'download <id> [file]',
    about: 'download the archive',
    uses: ['downloadSnapshot'],
    run: async (run) => {
      const [id, file] = run.args;
      const download = await run.client.download('downloadSnapshot', { params: named(id) });
      await saveDownload(run, download, file, `${id}.zip`);
    },
  });
  command(cli, snapshots, {
    name: 'upload <path>',
    about: 'upload an archive from a file or a URL',
    uses: ['uploadSnapshot'],
    options: [option('--id <id>', 'id of the snapshot; default: the name of the file')],
    run: async ({ args: [path], options, client, out, io }) => {
      const id = options.id ?? idFromPath(path);
      const snapshot = await client.upload('uploadSnapshot', {
        params: named(id),
        query: { snapshot_archive_url: isUrl(path) ? path : undefined },
        content: isUrl(path) ? undefined : fileUpload(io, path),
      });
      out.done(`Snapshot ${id} uploaded.`, snapshot as object);
    },
  });
}

function restoreCommand(cli: Cli, snapshots: Command): void {
  command(cli, snapshots, {
    name: 'restore <id>',
    about: 'replace the state of the manager by that of the snapshot',
    uses: ['restoreSnapshot', 'streamEvents', 'getSnapshotStatus'],
    options: [
      option('-f, --force', 'also when the manager holds something'),
      option('--dry-run', 'verify and rehearse everything, tell what would happen, change nothing'),
      number('--timeout <seconds>', 'wait so long for other executions to end', 300),
    ],
    run: async (run) => {
      const { args, options, client, out } = run;
      const isDryRun = options.dryRun ?? false;
      const execution = await client.call('restoreSnapshot', {
        params: named(args[0]),
        // A dry run changes nothing, so what the manager holds is no reason to refuse it.
        body: { force: (options.force ?? false) || isDryRun, dry_run: isDryRun, timeout: options.timeout },
      });
      try {
        await followExecution(run, execution.id!, ALL_EVENTS);
      } catch (error) {
        // A restore ends every session: a caller with a token is not authenticated any more.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
        await afterSession(client);
        out.done('The restore has ended, and with it this session; log in again to see how.', {
          id: args[0],
        });
      }
    },
  });
}

/** Waits until no restore runs; needs no credentials. */
async function afterSession(client: ClientOf<'getSnapshotStatus'>): Promise<void> {
  for (;;) {
    const { status } = await client.call('getSnapshotStatus', {});
    if (status !== 'running') return;
    await pause(STATUS_PAUSE_MS);
  }
}
