import { isAdministrator, type Principal } from '@baton/contracts';
import { type AnyQuery, compileTemplate, Slot, type StatementTemplate } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { deploymentSelection, deploymentText } from './deployment-columns.sql';
import { deploymentScope } from './deployments.sql';
import { visibleTotal } from './row-counts.sql';

/**
 * The two statements that most requests come to, built and planned once per connection: one deployment by its id, and
 * a page of a tenant's list in its own order.
 */
export interface DeploymentStatements {
  /** Slots: id, tenant, username. */
  one(principal: Principal, include: Fields): StatementTemplate;
  /** Slots: tenant, username, offset unless the page is the first. */
  page(principal: Principal, include: Fields, size: number, from: PageStart): StatementTemplate;
}

/** Response fields, all of them (null), or the objects as texts. */
export type Fields = string[] | null | 'text';

/** Where a page is looked for: at the first row, behind some rows, or (the same rows) before the last ones. */
export type PageStart = 'first' | 'front' | 'back';

/** Every connection keeps each of them. */
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
      const key = `one ${caller.permissions.length} ${fieldsKey(include)}`;
      return remembered(key, () => selectOne(caller, include));
    },
    page: (principal, include, size, from) => {
      const caller = slotCaller(principal);
      const key = `${from} ${size} ${caller.permissions.length} ${fieldsKey(include)}`;
      return remembered(key, () => selectRows(caller, include, size, from));
    },
  };
}

const fieldsKey = (include: Fields): string => (Array.isArray(include) ? include.join() : (include ?? '*'));

const slot = (name: string): string => new Slot(name) as unknown as string;

/** A caller who sees what `principal` sees in its tenant, with slots for the names. */
function slotCaller(principal: Principal): Principal {
  return {
    ...principal,
    tenant: slot('tenant'),
    username: slot('username'),
    isBootstrapAdmin: false,
    permissions: isAdministrator(principal) ? ['administrators'] : [],
  };
}

function selectionOf(include: Fields): { fields: RawBuilder<unknown>; joins: RawBuilder<unknown> } {
  if (include === 'text') {
    const { columns, joins } = deploymentText();
    return { fields: columns, joins };
  }
  const { columns, always, joins } = deploymentSelection(include);
  const names = include === null ? Object.keys(columns) : [...new Set([...include, ...always])];
  const chosen = names.filter((name) => columns[name] !== undefined);
  const fields = chosen.map((name) => sql`${columns[name]} as ${sql.id(name)}`);
  return { fields: sql.join([sql`1 as one_`, ...fields]), joins };
}

function selectOne(caller: Principal, include: Fields): RawBuilder<unknown> {
  const { fields, joins } = selectionOf(include);
  return sql`select ${fields} from (
      select * from deployments d where d.id = ${slot('id')} and ${deploymentScope(caller)}
      order by d.tenant = ${caller.tenant} desc limit 1) d ${joins}`;
}

/**
 * The keys of a page come from indexes alone: the tenant's rows and those that other tenants share, merged in order.
 * Behind the middle of the list they are walked from its end, so the last page costs what the first one does.
 */
function selectRows(caller: Principal, include: Fields, size: number, from: PageStart): RawBuilder<unknown> {
  const { fields, joins } = selectionOf(include);
  const direction = from === 'back' ? sql`desc` : sql`asc`;
  const order = sql`created_at ${direction}, key ${direction}`;
  // The offset in a subquery: a plan that does not look at it is a plan that can be kept.
  const offset = {
    first: sql``,
    front: sql`offset (select ${slot('offset')}::bigint)`,
    back: sql`offset (select greatest(t.n - ${slot('offset')}::bigint - ${sql.lit(size)}, 0) from total t)`,
  }[from];
  // From the end the last page is found with rows before it when it is not full.
  const isInPage =
    from === 'back' ? sql`page.nth <= (select t.n - ${slot('offset')}::bigint from total t)` : sql`true`;
  // LIMIT 1: whatever the planner believes, the rows of the page are fetched by their keys.
  return sql`with total as materialized (select ${visibleTotal('deployments', caller)} as n),
    page as materialized (
      select key, row_number() over () as nth from (
        select key, created_at from (
          (select d.key, d.created_at from deployments d where d.tenant = ${caller.tenant} and ${deploymentScope(caller)} order by ${order})
          union all
          (select d.key, d.created_at from deployments d where d.visibility = 'global' and d.tenant <> ${caller.tenant} order by ${order})
        ) visible order by ${order} limit ${sql.lit(size)} ${offset}
      ) found
    )
    select ${fields}, (select t.n from total t) as total_
    from page cross join lateral (select * from deployments r where r.key = page.key limit 1) d ${joins}
    where ${isInPage} order by d.created_at, d.key`;
}
