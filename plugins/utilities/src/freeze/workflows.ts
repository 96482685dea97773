import { FatalError, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Dict } from '../json';
import { type FreezeStage, runOnAll } from './run-on-all';

const MAPPING = 'suspend.cloudify_suspend.workflows';
const COMPUTE = 'cloudify.nodes.Compute';

const plain = (name: string, availableWhen: readonly ('all' | 'partial')[], operations: readonly string[]) =>
  workflow({
    mapping: `${MAPPING}.${name}`,
    availableWhen,
    isResumable: true,
    run: (ctx, parameters) =>
      runOnAll(
        ctx,
        operations.map((operation) => ({ operation })),
        parameters as Dict,
      ),
  });

/** The operations of the lifecycle are the older names. */
export const suspend = plain(
  'suspend',
  ['all'],
  ['cloudify.interfaces.lifecycle.suspend', 'cloudify.interfaces.freeze.suspend'],
);
export const resume = plain(
  'resume',
  ['all', 'partial'],
  ['cloudify.interfaces.freeze.resume', 'cloudify.interfaces.lifecycle.resume'],
);
/** The name of the operation is spelled as in the original. */
export const statistics = plain('statistics', ['all'], ['cloudify.interfaces.statistics.perfomance']);

const around = (operation: string): FreezeStage[] => [
  // Services stop before the machines that they run on, and start behind them.
  { operation: 'cloudify.interfaces.freeze.fs_prepare', exclude: [COMPUTE], include: [] },
  { operation: 'cloudify.interfaces.freeze.fs_prepare', include: [COMPUTE], exclude: [] },
  { operation },
  { operation: 'cloudify.interfaces.freeze.fs_finalize', include: [COMPUTE], exclude: [] },
  { operation: 'cloudify.interfaces.freeze.fs_finalize', exclude: [COMPUTE], include: [] },
];

const SNAPSHOT = {
  snapshot_name: z.string().default('').describe('Name of the backup'),
  snapshot_incremental: z.boolean().default(true).describe('A backup of the changes alone'),
};

/** Seconds since 1970 at the begin of the execution, which is a part of its id: the same when the code runs again. */
const startedAt = (executionId: string): number =>
  Math.floor(Number.parseInt(executionId.replaceAll('-', '').slice(0, 12), 16) / 1000);

export const backup = workflow({
  mapping: `${MAPPING}.backup`,
  availableWhen: ['all', 'partial'],
  isResumable: true,
  parameters: z.object({
    ...SNAPSHOT,
    snapshot_type: z.string().default('irregular').describe('For instance daily or weekly'),
    snapshot_rotation: z.int().default(1).describe('How many backups are kept'),
  }),
  async run(ctx, given) {
    const name = given.snapshot_name || `backup-${startedAt(ctx.executionId)}`;
    const parameters = {
      ...given,
      snapshot_name: name,
      snapshot_type: given.snapshot_type || 'irregular',
      snapshot_rotation: given.snapshot_rotation || -1,
    };
    await runOnAll(ctx, around('cloudify.interfaces.snapshot.create'), parameters as Dict);
    ctx.logger.info(`The backup ${name} is made`);
  },
});

const named = (given: { snapshot_name: string }): string => {
  if (given.snapshot_name === '') throw new FatalError('Backup name must be provided.');
  return given.snapshot_name;
};

export const restore = workflow({
  mapping: `${MAPPING}.restore`,
  availableWhen: ['partial', 'none'],
  isResumable: true,
  parameters: z.object(SNAPSHOT),
  async run(ctx, given) {
    const name = named(given);
    await runOnAll(ctx, around('cloudify.interfaces.snapshot.apply'), given as Dict);
    ctx.logger.info(`The backup ${name} is restored`);
  },
});

export const removeBackup = workflow({
  mapping: `${MAPPING}.remove_backup`,
  isResumable: true,
  parameters: z.object(SNAPSHOT),
  async run(ctx, given) {
    const name = named(given);
    await runOnAll(ctx, [{ operation: 'cloudify.interfaces.snapshot.delete' }], given as Dict);
    ctx.logger.info(`The backup ${name} is removed`);
  },
});
