import { CancelledError, FatalError, type WorkflowScope } from '@baton/plugin-sdk';
import type { Dict } from '../json';
import { endModification, type Modification, startModification } from './modification';
import type { ScaleSettings } from './settings';

export interface ScaleOptions {
  /** Runtime properties of new instances, by node; the last one of a list is taken first, as in the original. */
  properties: Record<string, Dict[]>;
  /** Runtime property for a value that all instances of one scale-out have. Empty: none. */
  transactionField: string;
  /** Empty: the id of the modification. */
  transactionValue: string;
  ignoresFailure: boolean;
  ignoresRollbackFailure: boolean;
  rollsBack: boolean;
  /** Ids of which the removed instances must be. */
  removable?: readonly string[];
  /** Nodes in the order of their installation; empty: the order of the relationships. */
  sequence: readonly string[];
}

/**
 * Changes the number of instances: a modification begins, instances are installed or uninstalled, and the modification ends.
 * @throws what failed, after it was taken back
 */
export async function runScale(
  ctx: WorkflowScope,
  settings: ScaleSettings,
  options: ScaleOptions,
): Promise<void> {
  if (Object.keys(settings).length === 0) {
    ctx.logger.info('delta parameter is 0, so no scaling will take place.');
    return;
  }
  const modification = await startModification(ctx, settings);
  try {
    if (modification.added.length > 0) await installAdded(ctx, modification, options);
    if (modification.removed.length > 0) await uninstallRemoved(ctx, modification, options);
  } catch (error) {
    // A cancelled execution submits no work any more: the modification stays for a resume, or for abort_started of scale.
    if (error instanceof CancelledError) throw error;
    ctx.logger.warning(`The scaling failed: ${(error as Error).message}`);
    await endModification(ctx, modification, options.rollsBack ? 'rollback' : 'finish');
    throw error;
  }
  await endModification(ctx, modification, 'finish');
}

async function installAdded(
  ctx: WorkflowScope,
  modification: Modification,
  options: ScaleOptions,
): Promise<void> {
  const { added, relatedToAdded: related } = modification;
  ctx.logger.info(`Added: ${added.join(', ')}`);
  try {
    await giveProperties(ctx, modification, options);
    for (const level of await levelsOf(ctx, added, options.sequence))
      await ctx.install(level, others(level, added, related));
  } catch (error) {
    if (error instanceof CancelledError || !options.rollsBack) throw error;
    ctx.logger.error('Scale out failed, scaling back in.');
    await ctx.uninstall(added, related, options.ignoresRollbackFailure);
    throw error;
  }
}

async function uninstallRemoved(
  ctx: WorkflowScope,
  modification: Modification,
  options: ScaleOptions,
): Promise<void> {
  const { removed, relatedToRemoved: related } = modification;
  ctx.logger.info(`Removed: ${removed.join(', ')}`);
  const stranger = removed.find((id) => options.removable !== undefined && !options.removable.includes(id));
  if (stranger !== undefined)
    throw new FatalError(
      `the manager would remove ${stranger}, which is none of those to remove: ${options.removable!.join(', ')}`,
    );
  await uninstallInOrder(ctx, removed, related, options);
}

/** Uninstalls instances, the last nodes of the sequence first. */
export async function uninstallInOrder(
  ctx: WorkflowScope,
  ids: readonly string[],
  related: readonly string[],
  { sequence, ignoresFailure }: Pick<ScaleOptions, 'sequence' | 'ignoresFailure'>,
): Promise<void> {
  for (const level of (await levelsOf(ctx, ids, sequence)).reverse())
    await ctx.uninstall(level, others(level, ids, related), ignoresFailure);
}

const others = (level: readonly string[], all: readonly string[], related: readonly string[]): string[] => [
  ...related,
  ...all.filter((id) => !level.includes(id)),
];

/** Instances in the order of the sequence; those of other nodes go with the first ones. */
async function levelsOf(
  ctx: WorkflowScope,
  ids: readonly string[],
  sequence: readonly string[],
): Promise<string[][]> {
  if (sequence.length === 0) return [[...ids]];
  const { instances } = await ctx.model();
  const nodeOf = new Map(instances.map(({ id, node_id: node }) => [id, node]));
  const levels = sequence.map((node) => ids.filter((id) => nodeOf.get(id) === node));
  const unnamed = ids.filter((id) => !sequence.includes(nodeOf.get(id) ?? ''));
  return [[...unnamed, ...(levels[0] ?? [])], ...levels.slice(1)].filter((level) => level.length > 0);
}

/** Gives new instances their runtime properties, before they are installed. */
async function giveProperties(
  ctx: WorkflowScope,
  { id, added }: Modification,
  { properties, transactionField, transactionValue }: ScaleOptions,
): Promise<void> {
  const left = new Map(Object.entries(properties).map(([node, list]) => [node, [...list]]));
  const { instances } = await ctx.model();
  for (const instance of instances.filter((one) => added.includes(one.id))) {
    const own = left.get(instance.node_id)?.pop() ?? {};
    const mark = transactionField === '' ? {} : { [transactionField]: transactionValue || id };
    const given = { ...own, ...mark };
    if (Object.keys(given).length > 0)
      await ctx.step(`properties of ${instance.id}`, () =>
        changeInstance(ctx, instance.id, (present) => ({ ...present, ...given })),
      );
  }
}

/** Writes runtime properties of an instance. The version guards against another writer. */
async function changeInstance(
  ctx: WorkflowScope,
  id: string,
  change: (present: Dict) => Dict,
): Promise<null> {
  const address = `/node-instances/${encodeURIComponent(id)}`;
  const { version, runtime_properties: present } = await ctx
    .manager()
    .get<{ version: number; runtime_properties: Dict | null }>(address);
  await ctx.manager().patch(address, { json: { version, runtime_properties: change(present ?? {}) } });
  return null;
}
