import type { ListQuery, Principal } from '@baton/contracts';
import { RawJson } from '@baton/kernel';
import { prepared, selectPage } from '@baton/postgres';
import { sql } from 'kysely';
import {
  deploymentColumns,
  deploymentRecord,
  hasRecord,
  PART_END,
  RECORD_END,
} from '../store/deployment-columns.sql';
import { readDocuments } from '../store/documents.sql';
import { visibleTotal } from '../store/row-counts.sql';
import {
  countFiltered,
  type DeploymentSelector,
  deploymentPage,
  isPlainPage,
  isWhole,
  type ListDeps,
  startOf,
} from './list-deployments';
import { modelOf, restOfRecord } from './present-deployment';

/** A page whose items are one text already. */
export interface RawPage {
  items: RawJson;
  total: number;
  filtered: number | null;
}

/**
 * The page of `listDeployments` in its latest form as JSON that PostgreSQL wrote, in at most three statements; null when
 * nothing is asked for that stands in records.
 */
export async function listDeploymentRecords(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<RawPage | null> {
  if (!hasRecord(list.include)) return null;
  const page = isPlainPage(principal, list, selector)
    ? await readPage(deps, principal, list)
    : await selectRecords(deps, principal, list, selector);
  const objects = await objectsOf(deps, page.records, list.include);
  return {
    items: new RawJson(['[', ...objects.flatMap((parts, i) => (i === 0 ? parts : [',', ...parts])), ']']),
    total: page.total,
    filtered: await countFiltered(deps, principal, list, selector, page.total),
  };
}

/** One deployment that the caller may see as JSON, the own tenant's before a global one; null when there is none. */
export async function readDeploymentRecord(
  deps: ListDeps,
  principal: Principal,
  id: string,
): Promise<RawJson | null> {
  const { tenant, username } = principal;
  const { statement, values } = deps.deploymentStatements.one(principal, { include: null, isRecord: true });
  const rows = await prepared<{ record_: string }>(deps.db, statement, values({ id, tenant, username }));
  const [parts] = await objectsOf(
    deps,
    rows.map((row) => row.record_),
    null,
  );
  return parts ? new RawJson(parts) : null;
}

interface Records {
  records: string[];
  total: number;
}

async function readPage(
  { db, deploymentStatements }: ListDeps,
  principal: Principal,
  { size, offset, include }: ListQuery,
): Promise<Records> {
  const { tenant, username } = principal;
  const { from } = await startOf(db, principal, offset);
  const { statement, values } = deploymentStatements.page(principal, { include, isRecord: true }, size, from);
  const given = { tenant, username, offset };
  const rows = await prepared<{ page_: string | null; total_: number }>(db, statement, values(given));
  const { page_: page, total_: total } = rows[0]!;
  return { records: page === null ? [] : page.split(RECORD_END), total };
}

async function selectRecords(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<Records> {
  const { record, joins } = deploymentRecord(list.include);
  const { items, total } = await selectPage<{ record_: string }>({
    db: deps.db.query,
    ...deploymentPage(principal, { ...list, include: null }, selector),
    columns: deploymentColumns,
    fields: { record_: record },
    keyed: { key: sql`d.key`, fields: sql`deployments d on d.key = page_.key_ ${joins}` },
    ...(isWhole(list, selector) ? { total: visibleTotal('deployments', principal, list.allTenants) } : {}),
  });
  return { records: items.map((row) => row.record_), total };
}

/** The objects of records, each in two parts; what follows the records themselves is the same for many and kept. */
async function objectsOf(
  deps: ListDeps,
  records: readonly string[],
  include: string[] | null,
): Promise<(string | RawJson)[][]> {
  const rests = new Map<string, RawJson | null>();
  const split = records.map((record) => {
    const end = record.indexOf(PART_END);
    const key = record.slice(end + 1);
    if (!rests.has(key)) rests.set(key, deps.fragments.get(restKey(key, include)) ?? null);
    return { text: record.slice(0, end), key };
  });
  const missing = [...rests].filter(([, rest]) => rest === null).map(([key]) => key);
  if (missing.length > 0) await makeRests(deps, missing, include, rests);
  return split.map(({ text, key }) => [text, rests.get(key)!]);
}

const restKey = (key: string, include: string[] | null): string => `rest ${include?.join() ?? '*'} ${key}`;

async function makeRests(
  deps: ListDeps,
  keys: readonly string[],
  include: string[] | null,
  rests: Map<string, RawJson | null>,
): Promise<void> {
  const parted = keys.map((key) => [key, ...key.split(PART_END)] as [string, string, string]);
  const digests = parted.map(([, , shared]) => modelOf(shared)).filter((digest) => digest !== '');
  const models = await readDocuments(deps.db.query, deps.documents, digests);
  for (const [key, states, shared] of parted) {
    const rest = restOfRecord(states, shared, models, deps.fragments, include);
    deps.fragments.set(restKey(key, include), rest);
    rests.set(key, rest);
  }
}
