/** REST fields of blueprints as SQL, for lists, searches and single reads. */
import type { Principal } from '@baton/contracts';
import { type FilterTarget, isPrivate, visibilityScope } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

export const blueprintFrom = sql`blueprints b`;

/** Labels in the form of the API; times cut to milliseconds. */
const labels = sql`(
  select coalesce(json_agg(json_build_object('key', l.key, 'value', l.value,
    'created_at', to_char(l.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'creator_id', l.creator_id, 'created_by', l.created_by) order by l.key, l.value), '[]'::json)
  from blueprint_labels l where l.tenant = b.tenant and l.blueprint_id = b.id)`;

/** Fields of the upload execution that the cloudify wire shows; see present-blueprint. */
const uploadExecution = sql`json_build_object('id', b.upload_execution_id, 'ended_at',
  to_char(b.upload_ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'url', b.archive_url, 'labels', b.requested_labels,
  'main_file', b.requested_main_file, 'visibility', coalesce(b.upload_visibility, b.visibility))`;

export const blueprintColumns: Record<string, RawBuilder<unknown>> = {
  id: sql`b.id`,
  description: sql`b.description`,
  main_file_name: sql`b.main_file_name`,
  // As text: plans are large and are copied into answers unchanged.
  plan: sql`b.plan::text`,
  requirements: sql`b.requirements`,
  created_at: sql`b.created_at`,
  updated_at: sql`b.updated_at`,
  created_by: sql`b.created_by`,
  tenant_name: sql`b.tenant`,
  visibility: sql`b.visibility`,
  private_resource: isPrivate('b'),
  resource_availability: sql`b.visibility`,
  is_hidden: sql`b.is_hidden`,
  state: sql`b.state`,
  error: sql`b.error`,
  error_traceback: sql`b.error_traceback`,
  labels,
  upload_execution: uploadExecution,
  has_icon: sql`(b.icon is not null)`,
};

export const filterTarget: FilterTarget = {
  attributes: {
    created_by: sql`b.created_by`,
    state: sql`b.state`,
    id: sql`b.id`,
    tenant_name: sql`b.tenant`,
  },
  labels: sql`blueprint_labels l`,
  labelOwner: sql<SqlBool>`l.tenant = b.tenant and l.blueprint_id = b.id`,
};

export function seenBlueprints(principal: Principal, allTenants = false): RawBuilder<SqlBool> {
  return visibilityScope(principal, 'b', allTenants);
}

/** Returns the expression for `_sort=label:<key>`: sorts by the values of that label. */
export function labelSort(field: string): RawBuilder<unknown> | undefined {
  if (!field.startsWith('label:')) return undefined;
  const key = field.slice('label:'.length).toLowerCase();
  return sql`(select array_agg(l.value order by l.value) from blueprint_labels l where l.tenant = b.tenant and l.blueprint_id = b.id and l.key = ${key})`;
}
