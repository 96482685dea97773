import type { ListQuery, Principal } from '@baton/contracts';
import { RawJson } from '@baton/kernel';
import { type Gathered, gather, prepared, selectListPage } from '@baton/postgres';
import { deploymentRecord, hasRecord, PART_END, RECORD_END } from '../store/deployment-columns.sql';
import { readDocuments } from '../store/documents.sql';
import {
  countFiltered,
  type DeploymentSelector,
  deploymentKeyset,
  isPlainPage,
  keyedPage,
  type ListDeps,
  nextOf,
} from './list-deployments';
import { callerOf, readPlainPage } from './plain-page';
import { modelOf, restOfRecord } from './present-deployment';

const EMPTY = Buffer.alloc(0);

/** A page whose items are already one JSON text. */
export interface RawPage {
  items: RawJson;
  total: number;
  filtered: number | null;
  next?: string | null;
}

/**
 * Returns the page of `listDeployments` in its latest form as JSON that PostgreSQL wrote, in at most three statements; null when
 * the request names no field that stored records contain.
 */
export async function listDeploymentRecords(
  deps: ListDeps & { deploymentPages: DeploymentPages },
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<RawPage | null> {
  if (!hasRecord(list.include)) return null;
  if (isPlainPage(principal, list, selector)) return await gatheredPage(deps, principal, list);
  const page = await selectRecords(deps, principal, list, selector);
  return {
    ...(await pageOf(deps, page, list.include)),
    filtered: await countFiltered(deps, principal, list, selector, page.total),
    ...nextOf(page),
  };
}

async function pageOf(
  deps: ListDeps,
  { rows, total }: Records,
  include: string[] | null,
): Promise<Omit<RawPage, 'filtered'>> {
  return { items: new RawJson(['[', ...(await objectsOf(deps, rows, include)), ']']), total };
}

interface AskedPage {
  principal: Principal;
  list: ListQuery;
}

/** Reads pages of plain lists; equal pages that are requested at the same moment are read once. */
export type DeploymentPages = Gathered<AskedPage, RawPage>;

export function gatherPages(deps: ListDeps): DeploymentPages {
  return gather(async (asked: readonly AskedPage[]) => {
    const { principal, list } = asked[0]!;
    const page = await pageOf(deps, await readPlainRecords(deps, principal, list), list.include);
    return asked.map(() => ({ ...page, filtered: null }));
  });
}

async function gatheredPage(
  { deploymentPages }: { deploymentPages: DeploymentPages },
  principal: Principal,
  list: ListQuery,
): Promise<RawPage> {
  const { size, offset, include } = list;
  const group = `${size} ${offset} ${include?.join() ?? '*'} ${callerOf(principal)}`;
  return (await deploymentPages.read(group, { principal, list }))!;
}

/** Reads single deployments; requests of one caller at the same moment are read in one statement. */
export type DeploymentRecords = Gathered<AskedRecord, RawJson>;

interface AskedRecord {
  principal: Principal;
  id: string;
}

/** Reads deployments by their ids, each if the caller may see it; a deployment of the own tenant comes before a global one. */
export function gatherRecords(deps: ListDeps): DeploymentRecords {
  return gather(async (asked: readonly AskedRecord[]) => {
    const { principal } = asked[0]!;
    const { tenant, username } = principal;
    const { statement, values } = deps.deploymentStatements.records(principal);
    const given = values({ ids: asked.map(({ id }) => id), tenant, username });
    const rows = await prepared<{ nth_: number; record_: string }>(deps.db, statement, given);
    const found: (RawJson | null)[] = asked.map(() => null);
    for (const { nth_, record_ } of rows)
      found[nth_ - 1] = new RawJson(await objectsOf(deps, [record_], null));
    return found;
  });
}

/** Returns one deployment as JSON; null when the caller sees none of that id. */
export function readDeploymentRecord(
  { deploymentRecords }: { deploymentRecords: DeploymentRecords },
  principal: Principal,
  id: string,
): Promise<RawJson | null> {
  return deploymentRecords.read(callerOf(principal), { principal, id });
}

interface Records {
  /** Each row holds several records. */
  rows: string[];
  total: number;
  next?: string | null;
}

async function readPlainRecords(deps: ListDeps, principal: Principal, list: ListQuery): Promise<Records> {
  const { items, total } = await readPlainPage<{ records_: string }>(deps, principal, list, true);
  return { rows: items.map((row) => row.records_), total };
}

async function selectRecords(
  deps: ListDeps,
  principal: Principal,
  list: ListQuery,
  selector: DeploymentSelector,
): Promise<Records> {
  const { record, joins } = deploymentRecord(list.include);
  const request = {
    db: deps.db.query,
    ...keyedPage(principal, { ...list, include: null }, selector, joins),
    fields: { record_: record },
  };
  const page = await selectListPage<{ record_: string }>(request, deploymentKeyset(principal));
  return { rows: page.items.map((row) => row.record_), total: page.total, ...nextOf(page) };
}

const PART_BYTE = PART_END.charCodeAt(0);
const RECORD_BYTE = RECORD_END.charCodeAt(0);

/**
 * Returns the JSON objects of records, with commas between them. The bytes are scanned, not copied. The part that follows a record
 * is the same for many records and is cached.
 */
async function objectsOf(
  deps: ListDeps,
  rows: readonly string[],
  include: string[] | null,
): Promise<(string | RawJson)[]> {
  const rests = new Map<string, RawJson | null>();
  const found: { parts: (string | RawJson)[]; key: string }[] = [];
  let last = { bytes: EMPTY, key: '' };
  for (const [i, row] of rows.entries()) {
    const bytes = Buffer.from(row, 'utf8');
    for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
      const middle = bytes.indexOf(PART_BYTE, start);
      end = bytes.indexOf(RECORD_BYTE, middle);
      if (end < 0) end = bytes.length;
      if (bytes.compare(last.bytes, 0, last.bytes.length, middle + 1, end) !== 0 || found.length === 0)
        last = { bytes: bytes.subarray(middle + 1, end), key: bytes.toString('utf8', middle + 1, end) };
      const text = new RawJson(bytes.subarray(start, middle));
      found.push({ parts: start === 0 && i > 0 ? [',', text] : [text], key: last.key });
      if (!rests.has(last.key)) rests.set(last.key, deps.fragments.get(restKey(last.key, include)) ?? null);
    }
  }
  const missing = [...rests].filter(([, rest]) => rest === null).map(([key]) => key);
  if (missing.length > 0) await makeRests(deps, missing, include, rests);
  return found.flatMap(({ parts, key }) => [...parts, rests.get(key)!]);
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
