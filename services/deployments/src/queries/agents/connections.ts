import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, equalsBoolean, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { instanceScope } from '../list-node-instances';

const FROM = sql`agents a join node_instances ni on ni.id = a.node_instance_id and ni.tenant = a.tenant`;

/** An instant inside of JSON, in the form of all others. */
const instant = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const IS_CONNECTED = sql`(a.gateway_id is not null)`;

const columns: Record<string, RawBuilder<unknown>> = {
  name: sql`a.name`,
  node_instance_id: sql`a.node_instance_id`,
  deployment_id: sql`(select d.id from deployments d where d.key = ni.deployment_key)`,
  tenant_name: sql`a.tenant`,
  state: sql`a.state`,
  install_method: sql`a.install_method`,
  is_connected: IS_CONNECTED,
  since: sql`a.connected_since`,
  last_seen: sql`a.last_seen`,
  certificate: sql`case when a.certificate_serial is not null then json_build_object('serial', a.certificate_serial,
    'expires_at', ${instant(sql`a.certificate_until`)}, 'revoked_at', ${instant(sql`a.revoked_at`)}) end`,
  version: sql`a.version`,
  wanted_version: sql`a.wanted_version`,
  about: sql`a.about`,
};

/** Lists streams and certificates of the agents whose node instances the caller may see. */
export function listConnections(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: FROM,
    columns,
    list,
    where: [instanceScope(principal, list.allTenants)],
    tieBreak: sql`a.name, a.tenant`,
    search: sql`a.name`,
    filters: { is_connected: (values) => equalsBoolean(IS_CONNECTED, values) },
  });
}

/** Returns the same of one agent, of the own tenant first; null when there is none. */
export async function findConnection(
  db: AnyQuery,
  principal: Principal,
  name: string,
): Promise<Record<string, unknown> | null> {
  const { rows } = await sql<Record<string, unknown>>`
    select ${selectFields(columns)} from ${FROM} where a.name = ${name} and ${instanceScope(principal)}
    order by a.tenant = ${principal.tenant} desc limit 1`.execute(db);
  return rows[0] ?? null;
}
