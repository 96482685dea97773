import type { WorkflowScope } from '@baton/plugin-sdk';
import { type Dict, dictOf, type Json } from '../json';
import type { ScaleSettings } from './settings';

/** A deployment modification that has begun: ids of instances. */
export interface Modification {
  id: string;
  added: string[];
  removed: string[];
  /** Instances that stay, and have relationships to the others. */
  relatedToAdded: string[];
  relatedToRemoved: string[];
}

const ADDRESS = '/deployment-modifications';

/** Begins a modification. One that an attempt of this execution has begun is taken up. */
export async function startModification(ctx: WorkflowScope, nodes: ScaleSettings): Promise<Modification> {
  const begun = (await ctx.step('start modification', async () => {
    const context = { execution_id: ctx.executionId, workflow_id: ctx.workflowId };
    const json = { deployment_id: ctx.deployment.id, nodes, context };
    const answer = await ctx.manager().request('POST', ADDRESS, { json, retries: 0 });
    if (answer.status === 409) {
      const own = await ownModification(ctx);
      if (own !== null) return own;
    }
    if (answer.status >= 300)
      throw new Error(
        `the deployment modification cannot begin: ${dictOf(answer.json()).message ?? answer.status}`,
      );
    return summaryOf(answer.json() as Dict);
  })) as unknown as Modification;
  ctx.logger.info(`Deployment modification started. [modification_id=${begun.id}]`);
  return begun;
}

async function ownModification(ctx: WorkflowScope): Promise<Json | null> {
  const query = { deployment_id: ctx.deployment.id, status: 'started' };
  const { items } = await ctx.manager().get<{ items: Dict[] }>(ADDRESS, { query });
  const own = items.find((one) => dictOf(one.context).execution_id === ctx.executionId);
  return own === undefined ? null : summaryOf(own);
}

function summaryOf(modification: Dict): Json {
  const instances = dictOf(modification.node_instances);
  const ids = (side: string, isMarked: (mark: Json | undefined) => boolean): string[] =>
    (instances[side] as Dict[]).filter((one) => isMarked(one.modification)).map((one) => String(one.id));
  return {
    id: modification.id!,
    added: ids('added_and_related', (mark) => mark === 'added'),
    removed: ids('removed_and_related', (mark) => mark === 'removed'),
    relatedToAdded: ids('added_and_related', (mark) => mark !== 'added'),
    relatedToRemoved: ids('removed_and_related', (mark) => mark !== 'removed'),
  };
}

/** Keeps the change, or takes it back. A modification that has ended already, by an attempt that was lost, is no failure. */
export async function endModification(
  ctx: WorkflowScope,
  { id }: Modification,
  how: 'finish' | 'rollback',
): Promise<void> {
  const ended = how === 'finish' ? 'finished' : 'rolledback';
  await ctx.step(`${how} modification`, async () => {
    const { status } = await ctx.manager().get<{ status: string }>(`${ADDRESS}/${id}`);
    if (status !== ended) await ctx.manager().post(`${ADDRESS}/${id}/${how}`, { json: {} });
    return null;
  });
}
