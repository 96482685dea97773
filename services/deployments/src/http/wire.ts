import type { ListPage, ListQuery } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { type HttpCall, listEnvelope } from '@baton/http';
import type { WorkflowEntry } from '../domain/workflow-entries';

/** Forms of an object beside the one of v3.1: what the original's answers have in addition, and what v2.1 shows. */

export type Kind =
  | 'deployment'
  | 'deploymentUpdate'
  | 'modification'
  | 'node'
  | 'nodeInstance'
  | 'pluginsUpdate';
/** Those of which v2.1 has a form of its own. */
type LegacyKind = 'deployment' | 'node' | 'nodeInstance';

/**
 * Columns of an older storage format, always null. Strict clients of the original read every declared field, so
 * BATON_WIRE=cloudify shows them; they are no part of the spec.
 */
const RETIRED: Record<Kind, readonly string[]> = {
  deployment: [
    'inputs',
    'groups',
    'policy_triggers',
    'policy_types',
    'outputs',
    'capabilities',
    'scaling_groups',
    'workflows',
  ],
  deploymentUpdate: [
    'deployment_plan',
    'deployment_update_deployment',
    'deployment_update_nodes',
    'deployment_update_node_instances',
    'modified_entity_ids',
    'central_plugins_to_install',
    'central_plugins_to_uninstall',
    'old_inputs',
    'new_inputs',
  ],
  modification: ['context', 'modified_nodes', 'node_instances'],
  node: ['plugins', 'plugins_to_install', 'properties', 'relationships', 'operations', 'type_hierarchy'],
  nodeInstance: ['relationships', 'runtime_properties', 'scaling_groups'],
  pluginsUpdate: ['deployments_to_update'],
};

const LEGACY_TIMES = ['created_at', 'updated_at'];

/** `2026-11-21 02:46:17.123000`: no zone, microseconds. */
function legacyTime(iso: unknown): unknown {
  return typeof iso === 'string' ? `${iso.slice(0, 10)} ${iso.slice(11, 23)}000` : iso;
}

const isLegacyKind = (kind: Kind): kind is LegacyKind => kind in legacyFields;

function legacy(kind: LegacyKind, item: Record<string, unknown>): Record<string, unknown> {
  const known = (legacyFields[kind] as readonly string[]).filter((name) => name in item);
  return Object.fromEntries(
    known.map((name) => [name, LEGACY_TIMES.includes(name) ? legacyTime(item[name]) : item[name]]),
  );
}

/** `item` as the caller's version and wire show it. Managers of the original gave v2.1 the fields of v3. */
export function onWire(
  { wire, version }: Pick<HttpCall, 'wire' | 'version'>,
  kind: Kind,
  item: Record<string, unknown>,
): Record<string, unknown> {
  if (wire !== 'cloudify') return version === 'v2.1' && isLegacyKind(kind) ? legacy(kind, item) : item;
  const retired = RETIRED[kind].filter((name) => name in item).map((name) => [`${name}_p`, null]);
  return { ...item, ...Object.fromEntries(retired) };
}

/** A deployment modification, and the copies of node instances in it, as the caller's wire shows them. */
export function modificationOnWire(
  call: Pick<HttpCall, 'wire' | 'version'>,
  item: Record<string, unknown>,
): Record<string, unknown> {
  const instances = item.node_instances as Record<string, Record<string, unknown>[]> | undefined;
  if (call.wire === 'spec' || !instances) return onWire(call, 'modification', item);
  const copies = (name: string) =>
    (instances[name] ?? []).map((one) => onWire(call, 'nodeInstance', one)).sort(byNodeAndIndex);
  const before = copies('before_modification');
  const added = (instances.added_and_related ?? []).map((one) => changedInstance(one, before));
  const removed = (instances.removed_and_related ?? []).map((one) => changedInstance(one, before));
  return onWire(call, 'modification', {
    ...item,
    node_instances: {
      added_and_related: added,
      extended_and_related: gaining(added, 'extended'),
      reduced_and_related: gaining(removed, 'reduced'),
      removed_and_related: removed,
      before_modification: before,
      before_rollback: copies('before_rollback'),
    },
  });
}

/** The original's order is that of its storage; this one is known and mostly the same. */
const byNodeAndIndex = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  String(a.node_id).localeCompare(String(b.node_id)) || Number(a.index) - Number(b.index);

/** One that was there before has all its fields, and the relationships that it gains or loses. */
function changedInstance(one: Record<string, unknown>, before: readonly Record<string, unknown>[]) {
  const was = before.find(({ id }) => id === one.id);
  return { host_id: null, ...was, ...one };
}

/** Of those that stay, the ones whose relationships change. */
const gaining = (instances: readonly Record<string, unknown>[], modification: string) =>
  instances
    .filter((one) => one.modification === 'related' && (one.relationships as unknown[]).length > 0)
    .map((one) => ({ ...one, modification }));

/** What the original shows where it does not tell the workflows: one entry of nothing. */
const UNTOLD_WORKFLOWS = [
  {
    name: null,
    plugin: null,
    operation: null,
    parameters: null,
    is_cascading: null,
    is_available: null,
    availability_rules: null,
  },
];

/**
 * A deployment on the caller's wire. The original tells the workflows only in single reads of v3.1 and in lists with
 * `_get_data` (reference/rest-api.md 5.2); the spec has them in every deployment.
 */
export function deploymentOnWire(
  call: Pick<HttpCall, 'wire' | 'version'>,
  item: Record<string, unknown>,
  tellsWorkflows: boolean,
): Record<string, unknown> {
  const isUntold =
    call.wire === 'cloudify' && 'workflows' in item && !(tellsWorkflows && call.version === 'v3.1');
  return onWire(call, 'deployment', isUntold ? { ...item, workflows: UNTOLD_WORKFLOWS } : item);
}

/** Whether a list is asked for with `_get_data`. */
export function hasData(list: ListQuery): boolean {
  return list.extra._get_data?.at(-1)?.toLowerCase() === 'true';
}

/** Whether deployments are shown as the database puts them together: in the latest form, with nothing counted again. */
export const isAsStored = (
  call: Pick<
    HttpCall<unknown, { all_sub_deployments?: boolean | undefined } | undefined>,
    'wire' | 'version' | 'query'
  >,
): boolean => call.wire === 'spec' && call.version === 'v3.1' && call.query?.all_sub_deployments !== false;

/** A list of workflows. Managers of the original pass over the page that is asked for, and say that this is all there is. */
export function workflowsOnWire(
  wire: HttpCall['wire'],
  page: ListPage<WorkflowEntry>,
  list: ListQuery,
): object {
  if (wire !== 'cloudify') return listEnvelope(page, list);
  return {
    items: page.items,
    metadata: { pagination: { total: page.total, offset: 0, size: page.items.length } },
  };
}
