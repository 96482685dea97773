import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import type { RawJson } from '@baton/kernel';
import { pageConditions } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { WorkflowEntry } from '../domain/workflow-entries';
import { deploymentColumns } from '../store/deployment-columns.sql';
import { readDocuments } from '../store/documents.sql';
import { type DeploymentSelector, deploymentPage, type ListDeps } from './list-deployments';
import { presentDeployment, type SelectedDeployment } from './present-deployment';

/** Most deployments whose node instances are read for their states; those of rare models come first. */
const MAX_LOOKED_AT = 10_000;
/** States assumed for deployments beyond that number: a workflow that any of them allows counts as available. */
const ANY_ACTIVITY = ['"started"', '"uninitialized"', '"started","stopped"'];

/** Deployments of one model, which have the same workflows. */
interface Alike {
  model_: string | null;
  node_types_: string | null;
  count_: number;
  /** Null: too many deployments to read their states. */
  keys_: string[] | null;
}

/**
 * Lists the workflows of the matching deployments, each name once (reference/rest-api.md 5.2); `_common_only`: only those that
 * every deployment has. Of several workflows with a name, that of the oldest deployment is shown, but an available one comes before
 * others.
 */
export async function listWorkflows(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<ListPage<WorkflowEntry>> {
  const groups = await alikeDeployments(deps, principal, list, selector);
  const activities = await activitiesOf(deps, groups);
  const digests = groups.map((group) => group.model_).filter((digest) => digest !== null);
  const models = await readDocuments(deps.db.query, deps.documents, [...new Set(digests)]);
  const entriesOf = ({ model_, node_types_ }: Alike, states_: string): WorkflowEntry[] => {
    const row: SelectedDeployment = { model_, node_types_, states_ };
    return (presentDeployment(row, models, deps.fragments, ['workflows']).workflows as RawJson)
      .value as WorkflowEntry[];
  };
  const byName = new Map<string, { entry: WorkflowEntry; count: number }>();
  let all = 0;
  for (const [nth, group] of groups.entries()) {
    all += group.count_;
    const [first, ...others] = activities[nth]!.map((states) => entriesOf(group, states));
    for (const [at, entry] of first!.entries()) {
      const available = [entry, ...others.map((entries) => entries[at]!)].find((one) => one.is_available);
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

/**
 * Groups the matching deployments by the facts besides states on which their workflows depend; groups of the oldest deployments
 * come first.
 */
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
    select encode(p.model, 'hex') as model_, to_json(p.node_types)::text as node_types_, count(*)::int as count_,
      case when sum(count(*)) over (order by count(*), p.model, p.node_types) <= ${MAX_LOOKED_AT} then array_agg(d.key) end as keys_
    from deployments d left join deployment_plans p on p.deployment_key = d.key where ${where}
    group by p.model, p.node_types order by min(d.created_at), min(d.key)`.execute(db.query);
  return rows;
}

/**
 * Returns for each of `groups` the distinct activities of its deployments, at least one: states that represent those of all node
 * instances.
 */
async function activitiesOf({ db }: ListDeps, groups: readonly Alike[]): Promise<string[][]> {
  const looked = groups.flatMap(({ keys_ }, nth) => (keys_ ?? []).map((key) => ({ key, nth })));
  const found: string[][] = groups.map(({ keys_ }) => (keys_ === null ? ANY_ACTIVITY : []));
  if (looked.length === 0) return found;
  const { rows } = await sql<{ nth: number; states: string }>`
    select distinct k.nth, i.states
    from unnest(${looked.map(({ key }) => key)}::bigint[], ${looked.map(({ nth }) => nth)}::int[]) k (key, nth)
      cross join lateral ${activityOf(sql`k.key`)} i order by 1, 2`.execute(db.query);
  for (const { nth, states } of rows) found[nth]!.push(states);
  return found;
}

/**
 * Returns for a deployment as few states as give the same result of `isAvailable` as those of all its node instances: JSON texts
 * between commas.
 */
const activityOf = (key: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select case when count(*) = 0 then ''
    when bool_and(ni.state = 'started') then '"started"'
    when bool_or(ni.state = 'started') then '"started","stopped"'
    when bool_and(ni.state in ('uninitialized', 'deleted')) then '"uninitialized"'
    else '"stopped"' end as states
  from node_instances ni where ni.deployment_key = ${key})`;
