import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import type { RawJson } from '@baton/kernel';
import { pageConditions } from '@baton/postgres';
import { sql } from 'kysely';
import type { WorkflowEntry } from '../domain/workflow-entries';
import { deploymentColumns, instanceSummary } from '../store/deployment-columns.sql';
import { readDocuments } from '../store/documents.sql';
import { type DeploymentSelector, deploymentPage, type ListDeps } from './list-deployments';
import { presentDeployment, type SelectedDeployment } from './present-deployment';

/** At most this many deployments, the oldest, are looked at for the states of their node instances. */
const MAX_LOOKED_AT = 10_000;
/** States that a deployment may be in whose states were not looked at: what any of them allows counts as available. */
const ANY_STATES = ['"started"', '"uninitialized"', '"started","stopped"'];

/** Deployments of one model whose node instances are in the same states. */
interface Alike extends SelectedDeployment {
  model_: string | null;
  node_types_: string | null;
  /** Null: not looked at. */
  states_: string | null;
  count_: number;
}

/**
 * Workflows of the deployments that match, each name once (reference/rest-api.md 5.2); `_common_only`: only those that
 * every one of them has. Of several with a name the oldest deployment's is shown, one that is available before others.
 */
export async function listWorkflows(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<WorkflowEntry>> {
  const groups = await alikeDeployments(deps, principal, list, selector);
  const digests = groups.map((group) => group.model_).filter((digest) => digest !== null);
  const models = await readDocuments(deps.db.query, deps.documents, [...new Set(digests)]);
  const entriesOf = (group: Alike, states: string): WorkflowEntry[] => {
    const row = { ...group, states_: states };
    return (presentDeployment(row, models, deps.fragments, ['workflows']).workflows as RawJson)
      .value as WorkflowEntry[];
  };
  const byName = new Map<string, { entry: WorkflowEntry; count: number }>();
  let all = 0;
  for (const group of groups) {
    all += group.count_;
    const [first, ...others] = group.states_ === null ? ANY_STATES : [group.states_];
    for (const [at, entry] of entriesOf(group, first!).entries()) {
      const available = [entry, ...others.map((states) => entriesOf(group, states)[at]!)].find(
        (one) => one.is_available,
      );
      const known = byName.get(entry.name);
      if (!known) byName.set(entry.name, { entry: available ?? entry, count: group.count_ });
      else {
        known.count += group.count_;
        if (available && !known.entry.is_available) known.entry = available;
      }
    }
  }
  const isCommonOnly = list.extra._common_only?.at(-1)?.toLowerCase() === 'true';
  const found = [...byName.values()]
    .filter(({ count }) => !isCommonOnly || count === all)
    .map(({ entry }) => entry);
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = list.getAll ? found : found.slice(list.offset, list.offset + list.size);
  return { items: page, total: found.length, filtered: selector.rules === null ? null : 0 };
}

/** The matching deployments by what their workflows depend on, those of the oldest first. */
async function alikeDeployments(
  { db }: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<Alike[]> {
  const where = pageConditions({
    ...deploymentPage(principal, { ...list, sort: [] }, selector),
    columns: deploymentColumns,
  });
  const { rows } = await sql<Alike>`
    with chosen as materialized (
      select d.key, row_number() over (order by d.created_at, d.key) as nth from deployments d where ${where})
    select encode(p.model, 'hex') as model_, to_json(p.node_types)::text as node_types_, i.states as states_, count(*)::int as count_
    from chosen d left join deployment_plans p on p.deployment_key = d.key
      left join lateral ${instanceSummary} i on d.nth <= ${MAX_LOOKED_AT}
    group by p.model, p.node_types, i.states order by min(d.nth)`.execute(db.query);
  return rows;
}
