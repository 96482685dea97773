import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { KubeApi } from '../client/kube-api';
import { dictOf, isDict } from '../client/kube-object';
import type { Declared } from '../resources/declared';
import type { ResourceScope } from '../resources/scope';
import { kindOfMapping } from './api-mapping';
import { checkedObject } from './read-manifests';

/** Types of nodes whose last part is the kind of their object. */
const PREFIX = /^cloudify\.(nodes\.)?kubernetes\.resources\.([A-Za-z]+)$/;
const NO_KINDS = new Set([
  ...[
    'ResourceBase',
    'ResourceWithValidateStatus',
    'BlueprintDefinedResource',
    'CustomBlueprintDefinedResource',
  ],
  ...['CustomObject', 'FileDefinedResource', 'MultipleFileDefinedResources', 'SharedCluster'],
]);

const CUSTOM_OPTIONS = z.object({ group: z.string(), plural: z.string(), version: z.string() });

/** The one object of a node whose definition stands in the blueprint; the input `definition` goes before the property. */
export async function blueprintDefined(scope: ResourceScope, api: KubeApi): Promise<Declared[]> {
  const { typeHierarchy, properties } = await scope.ctx.node();
  const given = withChanges(scope, scope.inputs.definition ?? properties.definition);
  const { kind, apiVersion, ...rest } = dictOf(given);
  const named = kindOf(typeHierarchy);
  const mapped = kindOfMapping(properties.api_mapping);
  const custom = await customKind(properties.options, api);
  const whole = {
    ...withoutEmpty(rest),
    apiVersion:
      custom?.apiVersion ?? (isDefault(apiVersion) ? (mapped?.apiVersion ?? apiVersion) : apiVersion) ?? 'v1',
    kind: kind || custom?.kind || mapped?.kind || named,
  };
  if (!whole.kind)
    throw new FatalError('definition.kind is missing, and the type of the node does not say it');
  return [{ key: null, object: checkedObject(whole, 'properties.definition') }];
}

/** Changes by the workflow update_resource_definition; kept, so that later operations know them. */
const CHANGES = '__definition_changes';

function withChanges(scope: ResourceScope, definition: unknown): unknown {
  const runtime = scope.runtime as Record<string, unknown>;
  const { resource_definition_changes: given } = scope.inputs;
  if (isDict(given)) runtime[CHANGES] = merged(runtime[CHANGES] ?? {}, given);
  return merged(definition, runtime[CHANGES] ?? {});
}

function merged(below: unknown, above: unknown): unknown {
  if (!isDict(below) || !isDict(above)) return above;
  const result = { ...below };
  for (const [name, value] of Object.entries(above)) result[name] = merged(below[name], value);
  return result;
}

const isDefault = (apiVersion: unknown): boolean => !apiVersion || apiVersion === 'v1';

/** The kind that the type of a node says; null: it says none. */
function kindOf(typeHierarchy: readonly string[]): string | null {
  for (const type of [...typeHierarchy].reverse()) {
    const kind = PREFIX.exec(type)?.[2];
    if (kind !== undefined && !NO_KINDS.has(kind)) return kind;
  }
  return null;
}

/** Defaults of the original's types say nothing: `spec: {}`, `data: {}`. An apply would own them. */
const withoutEmpty = (definition: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(definition).filter(
      ([name, value]) => value !== null && value !== undefined && !isUnset(name, value),
    ),
  );

const DEFAULTED = new Set([
  'spec',
  'data',
  'stringData',
  'rules',
  'roleRef',
  'subjects',
  'secrets',
  'imagePullSecrets',
]);
const isUnset = (name: string, value: unknown): boolean =>
  DEFAULTED.has(name) && typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** A custom object names its resource in `options`. */
async function customKind(
  options: unknown,
  api: KubeApi,
): Promise<{ apiVersion: string; kind: string } | null> {
  const named = CUSTOM_OPTIONS.safeParse(options);
  if (!named.success) return null;
  const { group, version, plural } = named.data;
  const apiVersion = `${group}/${version}`;
  return { apiVersion, kind: (await api.discovery.requireResource(apiVersion, plural)).kind };
}
