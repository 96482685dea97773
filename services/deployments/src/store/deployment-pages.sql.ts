import { isAdministrator, type Principal } from '@baton/contracts';
import {
  type AnyQuery,
  compileTemplate,
  isGlobal,
  Slot,
  type StatementTemplate,
  visibleTotal,
} from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { betweenRecords, deploymentRecord, deploymentSelection } from './deployment-columns.sql';
import { deploymentScope } from './deployments.sql';

/**
 * The statements of most requests, built once, and planned once per connection: one deployment by its id, and a page of a tenant's
 * list in its default order; by fields or as records (see `deploymentRecord`).
 */
export interface DeploymentStatements {
  /** Slots: id, tenant, username. */
  one(principal: Principal, include: string[] | null): StatementTemplate;
  /** Slots: ids, tenant, username. Whole records: columns nth_, the position of the id from 1, and record_. */
  records(principal: Principal): StatementTemplate;
  /** Slots: tenant, username, offset unless the page is the first. For records: columns records_ (several of them) and total_. */
  page(principal: Principal, form: Form, size: number, from: PageStart): StatementTemplate;
}

export interface Form {
  /** Response fields; null: all. */
  include: string[] | null;
  isRecord: boolean;
}

/** How a page is found: at the first row, after skipping rows from the front, or (the same rows) from the back. */
export type PageStart = 'first' | 'front' | 'back';

/** Most cached statements: every connection keeps each of them. */
const MOST_TEXTS = 100;

export function createDeploymentStatements(db: AnyQuery): DeploymentStatements {
  const known = new LRUCache<string, StatementTemplate>({ max: MOST_TEXTS });
  const remembered = (key: string, make: () => RawBuilder<unknown>): StatementTemplate => {
    let found = known.get(key);
    if (!found) known.set(key, (found = compileTemplate(db, make())));
    return found;
  };
  return {
    one: (principal, include) => {
      const caller = slotCaller(principal);
      const form = { include, isRecord: false };
      const key = `one ${caller.permissions.length} ${formKey(form)}`;
      return remembered(key, () => selectOne(caller, form, sql`${slot('id')}`));
    },
    records: (principal) => {
      const caller = slotCaller(principal);
      return remembered(`records ${caller.permissions.length}`, () => selectRecords(caller));
    },
    page: (principal, form, size, from) => {
      const caller = slotCaller(principal);
      const key = `${from} ${size} ${caller.permissions.length} ${formKey(form)}`;
      return remembered(key, () => selectRows(caller, form, size, from));
    },
  };
}

const formKey = ({ include, isRecord }: Form): string => `${isRecord} ${include?.join() ?? '*'}`;

const slot = (name: string): string => new Slot(name) as unknown as string;

/** Returns a caller with the same visibility as `principal` in its tenant, with slots instead of the names. */
function slotCaller(principal: Principal): Principal {
  return {
    ...principal,
    tenant: slot('tenant'),
    username: slot('username'),
    isBootstrapAdmin: false,
    permissions: isAdministrator(principal) ? ['administrators'] : [],
  };
}

function selectionOf({ include, isRecord }: Form): {
  fields: RawBuilder<unknown>;
  joins: RawBuilder<unknown>;
} {
  if (isRecord) {
    const { record, joins } = deploymentRecord(include);
    return { fields: sql`${record} as record_`, joins };
  }
  const { columns, always, joins } = deploymentSelection(include);
  const names = include === null ? Object.keys(columns) : [...new Set([...include, ...always])];
  const chosen = names.filter((name) => columns[name] !== undefined);
  const fields = chosen.map((name) => sql`${columns[name]} as ${sql.id(name)}`);
  return { fields: sql.join([sql`1 as one_`, ...fields]), joins };
}

function selectOne(caller: Principal, form: Form, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const { fields, joins } = selectionOf(form);
  return sql`select ${fields} from (
      select * from deployments d where d.id = ${id} and ${deploymentScope(caller)}
      order by d.tenant = ${caller.tenant} desc limit 1) d ${joins}`;
}

/**
 * The ids are in a sub-select. A planner that sees their number considers custom plans for few ids cheaper than the generic plan,
 * and makes one for each call, which costs PostgreSQL three times as much as the read (0.47 ms instead of 0.15).
 */
function selectRecords(caller: Principal): RawBuilder<unknown> {
  return sql`select asked.nth_, one.* from unnest((select ${slot('ids')}::text[])) with ordinality asked (id, nth_)
    cross join lateral (${selectOne(caller, { include: null, isRecord: true }, sql`asked.id`)}) one`;
}

function selectRows(caller: Principal, form: Form, size: number, from: PageStart): RawBuilder<unknown> {
  const { fields, joins } = selectionOf(form);
  // A whole record needs only the key. LIMIT 1: whatever the planner estimates, rows are fetched by their keys.
  const rows =
    form.isRecord && form.include === null
      ? sql`page d`
      : sql`page cross join lateral (select r.*, page.nth_ from deployments r where r.key = page.key limit 1) d`;
  // From the back, the last page is found together with rows before it when it is not full.
  const isInPage =
    from === 'back' ? sql`d.nth_ <= (select t.n - ${slot('offset')}::bigint from total t)` : sql`true`;
  const order = sql`${from === 'back' ? sql`-` : sql``}q.nth_`;
  const total = sql`(select t.n from total t) as total_`;
  const found = sql`(select ${fields}, d.nth_ from ${rows} ${joins} where ${isInPage}) q`;
  return sql`with total as materialized (select ${visibleTotal(['deployments'], caller)} as n),
    page as materialized (${pageKeys(caller, size, from)})
    ${form.isRecord ? joinedRecords(found, order, total) : sql`select q.*, ${total} from ${found} order by ${order}`}`;
}

/** Records in one row of an answer: few rows, and none of them larger than one read from the socket. */
const RECORDS_A_ROW = 25;

function joinedRecords(found: RawBuilder<unknown>, order: RawBuilder<unknown>, total: RawBuilder<unknown>) {
  return sql`select string_agg(q.record_, ${betweenRecords} order by ${order}) as records_, ${total} from ${found}
    group by (${order} - 1) / ${sql.lit(RECORDS_A_ROW)} order by min(${order})`;
}

/**
 * Selects the keys of a page and their positions from indexes alone: the tenant's rows and the global rows of other tenants, merged
 * in order. Behind the middle of the list they are walked from its end, so the last page costs the same as the first one.
 */
function pageKeys(caller: Principal, size: number, from: PageStart): RawBuilder<unknown> {
  const direction = from === 'back' ? sql`desc` : sql`asc`;
  const order = sql`created_at ${direction}, key ${direction}`;
  // The offset is in a subquery: a plan that does not depend on its value can be kept.
  const offset = {
    first: sql``,
    front: sql`offset (select ${slot('offset')}::bigint)`,
    back: sql`offset (select greatest(t.n - ${slot('offset')}::bigint - ${sql.lit(size)}, 0) from total t)`,
  }[from];
  return sql`select key, row_number() over () as nth_ from (
      select key, created_at from (
        (select d.key, d.created_at from deployments d where d.tenant = ${caller.tenant} and ${deploymentScope(caller)} order by ${order})
        union all
        (select d.key, d.created_at from deployments d where ${isGlobal('d')} and d.tenant <> ${caller.tenant} order by ${order})
      ) visible order by ${order} limit ${sql.lit(size)} ${offset}
    ) found`;
}
