import { CATALOG_SHAPES } from './catalog-shapes';
import { DEPLOYMENT_SHAPES } from './deployment-shapes';
import { EXECUTION_SHAPES } from './execution-shapes';
import type { Field } from './fields';
import { MANAGER_SHAPES } from './manager-shapes';

/** The shape of every type. The values of absent fields are those that the original's migrations would have given. */
export const SHAPES = { ...MANAGER_SHAPES, ...CATALOG_SHAPES, ...DEPLOYMENT_SHAPES, ...EXECUTION_SHAPES };

export type RecordType = keyof typeof SHAPES;
type ValueOf<F> = F extends Field<infer T> ? T : never;
/** The item of a type: every field is there. */
export type Item<T extends RecordType> = {
  -readonly [K in keyof (typeof SHAPES)[T]['fields']]: ValueOf<(typeof SHAPES)[T]['fields'][K]>;
};

/** Types of the manager as a whole, in the order in which they are restored. */
export const MANAGER_TYPES = [
  'tenants',
  'permissions',
  'user_groups',
  'users',
] as const satisfies RecordType[];
/** Types of a tenant, in the order in which they are restored. */
export const TENANT_TYPES = [
  'sites',
  'plugins',
  'secrets_providers',
  'secrets',
  'blueprints',
  'deployments',
  'deployment_groups',
  'nodes',
  'node_instances',
  'agents',
  'inter_deployment_dependencies',
  'executions',
  'execution_groups',
  'events',
  'deployment_updates',
  'plugins_update',
  'deployments_filters',
  'blueprints_filters',
  'tasks_graphs',
  'execution_schedules',
  'deployment_modifications',
] as const satisfies RecordType[];
export const isRecordType = (type: string): type is RecordType => Object.hasOwn(SHAPES, type);
