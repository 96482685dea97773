import type { RecordType } from '../model/types';
import { isObject, type Note, type Value, type ValueObject } from '../value';
import type { Page } from './list-pages';

type Normalizer = (raw: ValueObject, page: Page, notes: Note[]) => ValueObject;

/** Items that belong to a deployment name it only in the head of their page. */
const ofDeployment: Normalizer = (raw, { sourceId }) => ({
  ...raw,
  deployment_id: raw.deployment_id ?? sourceId,
});

/** Pages hold these where the shapes of this package hold something else. Each returns a new object. */
const NORMALIZERS: Partial<Record<RecordType, Normalizer>> = {
  users: ({ tenant_roles: roles, ...raw }) => ({ ...raw, ...membershipsOf(roles) }),
  secrets: ({ creator, encrypted, provider, ...raw }, _page, notes) => {
    if (encrypted === true)
      notes.push({
        code: 'lossy-source',
        path: 'value',
        message: 'the value is encrypted with a passphrase of the export',
      });
    return {
      ...raw,
      value: encrypted === true ? null : (raw.value ?? null),
      created_by: raw.created_by ?? creator ?? null,
      provider_name: nameOf(provider),
    };
  },
  deployments: (raw) => ({ ...raw, display_name: raw.display_name ?? raw.id ?? null }),
  nodes: ofDeployment,
  node_instances: ofDeployment,
  agents: ofDeployment,
  tasks_graphs: (raw, { sourceId }) => ({ ...raw, execution_id: raw.execution_id ?? sourceId }),
  events: (raw, { source, sourceId }) => ({
    ...raw,
    execution_id: source === 'execution_groups' ? null : sourceId,
    execution_group_id: source === 'execution_groups' ? sourceId : null,
  }),
};

export function normalize(type: RecordType, raw: ValueObject, page: Page, notes: Note[]): ValueObject {
  return NORMALIZERS[type]?.(raw, page, notes) ?? raw;
}

const nameOf = (provider: Value | undefined): Value =>
  (isObject(provider) ? (provider.name ?? provider.id) : provider) ?? null;

/** From {direct: {tenant: role}, groups: {tenant: {role: [group]}}}. A group that gives no tenant does not occur in it. */
function membershipsOf(roles: Value | undefined): ValueObject {
  if (!isObject(roles)) return {};
  const groups = new Set<string>();
  for (const byRole of isObject(roles.groups) ? Object.values(roles.groups) : [])
    for (const list of isObject(byRole) ? Object.values(byRole) : [])
      for (const group of Array.isArray(list) ? list : []) if (typeof group === 'string') groups.add(group);
  return { tenants: roles.direct ?? {}, groups: [...groups].sort() };
}
