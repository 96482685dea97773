import { BUILTIN_ROLES } from '../legacy/builtin-roles';
import { COMMON, type ColumnKind, TENANT_TABLES } from '../legacy/table-specs';
import type { Label } from '../model/fields';
import type { RecordType } from '../model/types';
import { exactJson, type Value, type ValueObject } from '../value';
import { bytea, encrypted, textArray } from './copy-writer';
import type { Estate, Items } from './estate';
import type { Release } from './legacy-columns';
import { type Keys, nodeKey, ROLE_IDS } from './legacy-keys';
import { pickledInstance, pickleOf, type TextKind } from './pickle-writer';

/** Values of a row by column; columns that are absent are NULL. */
export type Cells = Record<string, string | null>;

interface Context {
  estate: Estate;
  keys: Keys;
  release: Release;
}

/** All rows of the tables of an estate. */
export function rowsOf(context: Context): Map<string, Cells[]> {
  const rows = new Map<string, Cells[]>();
  const add = (table: string, ...cells: Cells[]): void =>
    void rows.set(table, [...(rows.get(table) ?? []), ...cells]);
  managerRows(context, add);
  for (const [tenant, items] of Object.entries(context.estate.tenants))
    tenantRows(context, tenant, items, add);
  return rows;
}

type Add = (table: string, ...cells: Cells[]) => void;

function managerRows({ estate, keys }: Context, add: Add): void {
  const role = (name: string | null): string => String(ROLE_IDS[name ?? 'default']);
  for (const { name } of estate.manager.tenants ?? [])
    add('tenants', {
      id: keys.text('tenants', name),
      name,
      rabbitmq_password: encrypted('canary-broker', estate.encryptionKey),
    });
  for (const group of estate.manager.user_groups ?? []) {
    const id = keys.text('groups', group.name);
    add('groups', { id, name: group.name, ldap_dn: group.ldap_dn });
    add('groups_roles', { group_id: id, role_id: role(group.role) });
    for (const [tenant, name] of Object.entries(group.tenants))
      add('groups_tenants', { group_id: id, tenant_id: keys.text('tenants', tenant), role_id: role(name) });
  }
  for (const user of estate.manager.users ?? []) {
    const id = keys.text('users', user.username);
    add('users', {
      id,
      username: user.username,
      active: bool(user.is_active),
      created_at: sqlTime(user.created_at),
      last_login_at: sqlTime(user.last_login_at),
      password: user.password_hash,
      api_token_key: 'canary-token',
      show_getting_started: bool(user.show_getting_started),
    });
    add('users_roles', { user_id: id, role_id: role(user.role) });
    for (const group of user.groups)
      add('users_groups', { user_id: id, group_id: keys.text('groups', group) });
    for (const [tenant, name] of Object.entries(user.tenants))
      add('users_tenants', { user_id: id, tenant_id: keys.text('tenants', tenant), role_id: role(name) });
  }
  let id = 1;
  for (const [name, permissions] of BUILTIN_ROLES)
    for (const permission of permissions)
      add('permissions', { id: String(id++), role_id: role(name), name: permission });
}

function tenantRows(context: Context, tenant: string, items: Items, add: Add): void {
  for (const [table, { type }] of Object.entries(TENANT_TABLES)) {
    // The table of 5.2 for what later became deployments_filters.
    if (table === 'filters' && context.release !== '5.2') continue;
    if (table === 'deployments_filters' && context.release === '5.2') continue;
    for (const item of (items[type] ?? []) as unknown as ValueObject[]) {
      if (type === 'events' && (item.type === 'cloudify_log') !== (table === 'logs')) continue;
      add(table, cellsOf(context, tenant, items, table, item));
      childRows(context, tenant, type, item, add);
    }
  }
}

/** What identifies an item among the rows of its table. */
function identityOf(type: RecordType, tenant: string, item: ValueObject): (string | null)[] {
  const id = String(item.id ?? item.name ?? item.key ?? item.message);
  return type === 'nodes' ? [tenant, String(item.deployment_id), id] : [tenant, id];
}

function cellsOf(context: Context, tenant: string, items: Items, table: string, item: ValueObject): Cells {
  const spec = TENANT_TABLES[table]!;
  const { keys } = context;
  const cells: Cells = {
    _storage_id: keys.text(table, ...identityOf(spec.type, tenant, item)),
    _tenant_id: keys.text('tenants', tenant),
    _creator_id: keys.text('users', (item.created_by as string | null) ?? null),
    id: String(item.id ?? item.name ?? item.key ?? ''),
  };
  for (const [column, kind] of Object.entries({ ...COMMON, ...spec.columns })) {
    const value = item[spec.renamed?.[column] ?? column];
    if (value !== undefined) Object.assign(cells, cell(context, column, kind, value));
  }
  for (const [field, [column, target]] of Object.entries(spec.references ?? {})) {
    const name = (item[field] ?? null) as string | null;
    cells[column] = keys.text(target, tenant, name);
  }
  if (table === 'node_instances') {
    const node = nodeKey(items, item.id as string);
    cells._node_fk = node && keys.text('nodes', tenant, ...node);
  }
  if (table === 'secrets' && typeof item.value === 'string')
    cells.value = encrypted(item.value, context.estate.encryptionKey);
  if (table === 'sites' && typeof item.location === 'string')
    [cells.latitude, cells.longitude] = item.location.split(', ') as [string, string];
  if (table === 'agents')
    Object.assign(cells, { id: 'ffffffff-0000-4000-8000-000000000001', rabbitmq_password: 'canary-agent' });
  return cells;
}

const TIMES = /(_at|^since|^until|timestamp|next_occurrence|scheduled_for)$/;

function cell({ release }: Context, column: string, kind: ColumnKind, value: Value): Cells {
  if (kind === 'data') return dataCell(release, column, value);
  if (value === null) return { [column]: null };
  if (kind === 'json') return { [column]: exactJson(value) };
  if (typeof value === 'boolean') return { [column]: bool(value) };
  const text = String(value as string | number);
  return { [column]: TIMES.test(column) ? sqlTime(text) : text };
}

/** Up to 6.4 a pickle; in 7.0 JSON, and for some still the pickle of before, as where a migration was not finished. */
function dataCell(release: Release, column: string, value: Value): Cells {
  const kind: TextKind = release === '5.0' ? 'bytes' : 'unicode';
  const pickled =
    column === 'plan' && value !== null
      ? pickledInstance({ module: 'dsl_parser.models', name: 'Plan' }, value, kind)
      : pickleOf(value, kind);
  if (release !== '7.0') return { [column]: bytea(pickled) };
  if (column === 'inputs') return { [column]: null, [`${column}_p`]: bytea(pickled) };
  return { [column]: exactJson(value), [`${column}_p`]: null };
}

function childRows(context: Context, tenant: string, type: RecordType, item: ValueObject, add: Add): void {
  const { keys } = context;
  const key = (table: string): string | null => keys.text(table, ...identityOf(type, tenant, item));
  const of = (list: Value | undefined): ValueObject[] => (list ?? []) as ValueObject[];
  for (const label of of(item.labels) as unknown as Label[]) {
    if (type === 'plugins') break;
    const owner = key(type);
    const { key: name, value } = label;
    const cells = {
      created_at: sqlTime(label.created_at),
      key: name,
      value,
      _creator_id: keys.text('users', label.created_by),
    };
    add(`${type}_labels`, { ...cells, id: '1', _labeled_model_fk: owner, _deployment_fk: owner });
  }
  if (type === 'tasks_graphs')
    for (const operation of of(item.operations))
      add('operations', {
        ...(Object.fromEntries(
          Object.entries(operation).map(([name, value]) => [name, value as string | null]),
        ) as Cells),
        created_at: sqlTime(operation.created_at as string),
        dependencies: textArray(operation.dependencies as string[]),
        parameters: exactJson(operation.parameters!),
        _tasks_graph_fk: key('tasks_graphs'),
        _tenant_id: keys.text('tenants', tenant),
      });
  if (type === 'deployment_updates')
    for (const step of of(item.steps))
      add('deployment_update_steps', {
        id: 'step',
        action: step.action as string,
        entity_type: step.entity_type as string,
        entity_id:
          context.release >= '6.4'
            ? textArray(step.entity_id as string[])
            : (step.entity_id as string[]).join(':'),
        topology_order: String(step.topology_order as number),
        _deployment_update_fk: key('deployment_updates'),
      });
  if (type === 'deployment_groups')
    for (const id of item.deployment_ids as string[])
      add('deployment_groups_deployments', {
        deployment_group_id: key(type),
        deployment_id: keys.text('deployments', tenant, id),
      });
  if (type === 'execution_groups')
    for (const id of item.execution_ids as string[])
      add('execution_groups_executions', {
        execution_group_id: key(type),
        execution_id: keys.text('executions', tenant, id),
      });
}

const bool = (value: boolean): string => (value ? 't' : 'f');
/** As PostgreSQL writes a time without a zone. */
const sqlTime = (time: string | null): string | null =>
  time === null ? null : time.replace('T', ' ').replace('Z', '');
