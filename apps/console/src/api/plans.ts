/** Data for a new deployment or an update: plans of blueprints, and the resources that they need. */
import type { Schemas as ApiSchemas, Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import type { DataTypes, Schemas } from '../forms/field-spec';

type Blueprint = ApiSchemas['Blueprint'];

/** The part of a plan that screens read. */
export interface BlueprintPlan {
  inputs: Schemas;
  data_types: DataTypes;
  nodes: { id: string; type: string; number_of_instances: number }[];
  /** Keys of secrets. A computed name is not a string. */
  secrets: string[];
}

export type PlannedBlueprint = Pick<Blueprint, 'id' | 'description' | 'state' | 'visibility' | 'error'> & {
  plan: BlueprintPlan;
};

export const planQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: ['blueprint', tenant, id, 'plan'],
    queryFn: async ({ signal }): Promise<PlannedBlueprint> => {
      // The type is a union of two forms; this API version returns the longer one.
      const blueprint = (await client.call('getBlueprint', {
        tenant,
        signal,
        params: { blueprint_id: id },
        query: { _include: 'id,description,state,visibility,error,plan,requirements' },
      })) as Blueprint;
      return { ...blueprint, plan: planOf(blueprint) };
    },
  });

function planOf({ plan, requirements }: Pick<Blueprint, 'plan' | 'requirements'>): BlueprintPlan {
  const { inputs, data_types, nodes } = (plan ?? {}) as Partial<BlueprintPlan>;
  const secrets = (requirements?.secrets ??
    (plan?.requirements as Blueprint['requirements'])?.secrets) as unknown;
  return {
    inputs: inputs ?? {},
    data_types: data_types ?? {},
    nodes: nodes ?? [],
    secrets: Array.isArray(secrets) ? secrets.filter((name): name is string => typeof name === 'string') : [],
  };
}

/** Whether a deployment with this id exists, as far as the user may see. */
export const isTakenQuery = (client: Client, tenant: string, id: string) =>
  queryOptions({
    queryKey: ['deployments', tenant, 'taken', id],
    queryFn: async ({ signal }) => {
      const query = { id: [id], _include: 'id', _size: 1 };
      return (await client.call('listDeployments', { tenant, signal, query })).items.length > 0;
    },
  });

/** The secrets among `keys` that exist, as far as the user may see. */
export const knownSecretsQuery = (client: Client, tenant: string, keys: readonly string[]) =>
  queryOptions({
    queryKey: ['secrets', tenant, 'known', keys],
    queryFn: async ({ signal }) => {
      const query = { key: keys, _include: 'key', _size: keys.length };
      const { items } = await client.call('listSecrets', { tenant, signal, query });
      return new Set(items.map(({ key }) => key));
    },
    enabled: keys.length > 0,
  });

/** Maximum of sites offered by name. */
const MOST_SITES = 500;

export const siteNamesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['sites', tenant, 'names'],
    queryFn: async ({ signal }) => {
      const query = { _include: 'name', _size: MOST_SITES, _sort: 'name' };
      return (await client.call('listSites', { tenant, signal, query })).items.map(({ name }) => name);
    },
  });

export type Labelled = 'deployments' | 'blueprints';
const LABEL_CALLS = {
  deployments: { keys: 'listDeploymentLabelKeys', values: 'listDeploymentLabelValues' },
  blueprints: { keys: 'listBlueprintLabelKeys', values: 'listBlueprintLabelValues' },
} as const;

/** Label keys in use; with `key`, the values in use of that key. */
export const labelNamesQuery = (client: Client, tenant: string, of: Labelled, key: string | null) =>
  queryOptions({
    queryKey: ['labels', tenant, of, key],
    queryFn: async ({ signal }) => {
      const query = { _size: 100 };
      return key === null
        ? (await client.call(LABEL_CALLS[of].keys, { tenant, signal, query })).items
        : (await client.call(LABEL_CALLS[of].values, { tenant, signal, params: { key }, query })).items;
    },
    staleTime: 60_000,
  });
