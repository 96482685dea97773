/** Suggestions for a field, read from the manager with the constraints of the field. */
import type { AnswerOf, Client } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import type { Picked } from './field-spec';
import { isFunctionCall } from './field-spec';

export interface Offer {
  value: string;
  /** Text beside the value, when the value alone is not clear. */
  text: string | null;
}

/** Where to search names of nodes, groups and the like, unless the constraints of the field name a place. */
export interface PickPlace {
  blueprintId?: string;
  deploymentId?: string;
}

export interface PickRequest {
  picked: Picked;
  /** The text entered so far. */
  text: string;
  constraints: readonly Record<string, unknown>[];
  place: PickPlace;
  /** Returns the value of another input of the form: constraints may refer to it. */
  inputValue: (input: string) => unknown;
}

/** Maximum of suggestions; typing more letters narrows them. */
const MOST = 50;

/** Name of `name_pattern` in the search operation of each type. */
const PATTERN_NAMES: Readonly<Record<Picked, string>> = {
  blueprint_id: 'id_specs',
  deployment_id: 'display_name_specs',
  secret_key: 'key_specs',
  node_id: 'id_specs',
  node_instance: 'id_specs',
  node_type: 'type_specs',
  capability_value: 'capability_key_specs',
  scaling_group: 'scaling_group_name_specs',
  operation_name: 'operation_name_specs',
};
const TOP_LEVEL = new Set<Picked>(['blueprint_id', 'deployment_id', 'secret_key']);
/** These belong to deployments only, not to blueprints. */
const OF_DEPLOYMENTS = new Set<Picked>(['capability_value', 'node_instance']);
const SEARCHED: Readonly<Record<'top' | 'inner', readonly string[]>> = {
  top: ['filter_id', 'labels', 'tenants', 'name_pattern'],
  inner: ['deployment_id', 'name_pattern', 'valid_values'],
};

/** Returns the constraints of a search; null when the search needs a deployment or blueprint and none is known. */
export function searchConstraints({
  picked,
  constraints,
  place,
  inputValue,
}: Omit<PickRequest, 'text'>): Record<string, unknown> | null {
  const isTop = TOP_LEVEL.has(picked);
  const query: Record<string, unknown> = {};
  for (const constraint of constraints)
    for (const name of isTop ? SEARCHED.top : SEARCHED.inner) {
      const argument = argumentOf(constraint[name], inputValue);
      if (argument !== undefined) query[name === 'name_pattern' ? PATTERN_NAMES[picked] : name] = argument;
    }
  if (isTop || query.deployment_id !== undefined) return query;
  if (place.deploymentId !== undefined) return { ...query, deployment_id: place.deploymentId };
  if (OF_DEPLOYMENTS.has(picked) || place.blueprintId === undefined) return null;
  return { ...query, blueprint_id: place.blueprintId };
}

/** Returns the argument of a constraint, which may be another input. Other computed arguments are unknown here. */
function argumentOf(argument: unknown, inputValue: (input: string) => unknown): unknown {
  if (!isFunctionCall(argument)) return argument;
  const { get_input: input } = argument as { get_input?: unknown };
  return typeof input === 'string' ? inputValue(input) : undefined;
}

/** Returns the query of the suggestions. It is disabled when nothing can be suggested. */
export const picksQuery = (client: Client, tenant: string, request: PickRequest) => {
  const constraints = searchConstraints(request);
  const { picked, text } = request;
  return queryOptions({
    queryKey: ['picks', tenant, picked, text, constraints],
    queryFn: ({ signal }) => readPicks(client, { tenant, signal, picked, text, constraints: constraints! }),
    enabled: constraints !== null,
    placeholderData: (before) => before,
  });
};

interface Reading {
  tenant: string;
  signal: AbortSignal;
  picked: Picked;
  text: string;
  constraints: Record<string, unknown>;
}

async function readPicks(client: Client, { picked, ...o }: Reading): Promise<Offer[]> {
  const { tenant, signal, text, constraints } = o;
  const common = { tenant, signal, body: { constraints } };
  // Searches match a part of the name.
  const query = { _size: MOST, _search: text || undefined };
  switch (picked) {
    case 'blueprint_id':
      return idsOf(
        await client.call('searchBlueprints', {
          ...common,
          // Excludes blueprints whose upload is in progress or failed.
          query: { ...query, _include: 'id', state: ['uploaded'] },
        }),
      );
    case 'deployment_id': {
      const asked = { ...query, _search_name: text || undefined, _include: 'id,display_name' };
      const { items } = await client.call('searchDeployments', { ...common, query: asked });
      return items.map(({ id, display_name }) => ({
        value: id,
        text: display_name === id ? null : display_name,
      }));
    }
    case 'secret_key': {
      const { items } = await client.call('searchSecrets', {
        ...common,
        query: { ...query, _include: 'key' },
      });
      return items.map(({ key }) => ({ value: key, text: null }));
    }
    case 'node_instance': {
      const asked = { ...query, _include: 'id,node_id' };
      const { items } = await client.call('searchNodeInstances', { ...common, query: asked });
      return items.map(({ id, node_id }) => ({ value: id, text: node_id }));
    }
    case 'scaling_group': {
      const { items } = await client.call('searchScalingGroups', { ...common, query });
      return items.map(({ name }) => ({ value: name, text: null }));
    }
    case 'capability_value':
      return capabilities(await client.call('searchCapabilities', { ...common, query }));
    case 'node_id':
      return idsOf(await client.call('searchNodes', { ...common, query: { ...query, _include: 'id' } }));
    case 'node_type': {
      const { items } = await client.call('searchNodeTypes', {
        ...common,
        query: { ...query, _include: 'type' },
      });
      return distinct(items.map(({ type }) => String(type)));
    }
    case 'operation_name': {
      const asked = { _size: MOST, _include: 'id,operations' };
      const { items } = await client.call('searchNodes', { ...common, query: asked });
      return operations(items, text);
    }
  }
}

const idsOf = ({ items }: { items: { id: string }[] }): Offer[] =>
  items.map(({ id }) => ({ value: id, text: null }));

const distinct = (values: string[]): Offer[] =>
  [...new Set(values)].map((value) => ({ value, text: null })).slice(0, MOST);

export function operations(nodes: readonly object[], text: string): Offer[] {
  const names = nodes.flatMap((node) => Object.keys((node as { operations?: object }).operations ?? {}));
  return distinct(names.filter((name) => name.toLowerCase().includes(text.toLowerCase())).sort());
}

/** Suggests capability values that are strings or numbers, with the names of the capabilities as explanation. */
export function capabilities({ items }: Pick<AnswerOf<'searchCapabilities'>, 'items'>): Offer[] {
  return items.flatMap(({ capabilities: found }) =>
    found.flatMap((one) =>
      Object.entries(one).flatMap(([name, definition]) => {
        const { value } = definition as { value?: unknown };
        return typeof value === 'string' || typeof value === 'number'
          ? { value: String(value), text: name }
          : [];
      }),
    ),
  );
}
