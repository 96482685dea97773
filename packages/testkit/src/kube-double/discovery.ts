import type { Dict } from './object';
import { apiVersionOf, type ResourceType } from './resources';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS: Record<string, string[]> = { log: ['get'], token: ['create'], eviction: ['create'] };

/** What `kubectl get all` shows. */
const IN_ALL = new Set([
  ...['pods', 'replicationcontrollers', 'services', 'daemonsets', 'deployments', 'replicasets'],
  ...['statefulsets', 'horizontalpodautoscalers', 'cronjobs', 'jobs'],
]);

const categoriesOf = ({ resource }: ResourceType): { categories?: string[] } =>
  IN_ALL.has(resource) ? { categories: ['all'] } : {};

const groupsOf = (types: readonly ResourceType[]): string[] => [...new Set(types.map(({ group }) => group))];
const versionsOf = (types: readonly ResourceType[], group: string): string[] => [
  ...new Set(types.filter((type) => type.group === group).map(({ version }) => version)),
];

const kindOfSubresource = (
  type: ResourceType,
  name: string,
): { group: string; version: string; kind: string } => {
  if (name === 'scale') return { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  if (name === 'token') return { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
  if (name === 'eviction') return { group: 'policy', version: 'v1', kind: 'Eviction' };
  return { group: type.group, version: type.version, kind: type.kind };
};

/** /apis and /api in the aggregated form (apidiscovery.k8s.io/v2): all groups with all resources at once. */
export function aggregated(types: readonly ResourceType[], isCore: boolean): Dict {
  const groups = groupsOf(types).filter((group) => (group === '') === isCore);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: versionsOf(types, group).map((version) => ({
        version,
        freshness: 'Current',
        resources: types
          .filter((type) => type.group === group && type.version === version)
          .map((type) => ({
            resource: type.resource,
            responseKind: { group, version, kind: type.kind },
            scope: type.isNamespaced ? 'Namespaced' : 'Cluster',
            singularResource: type.singular,
            verbs: VERBS,
            shortNames: type.shortNames,
            ...categoriesOf(type),
            subresources: type.subresources.map((subresource) => ({
              subresource,
              responseKind: kindOfSubresource(type, subresource),
              verbs: SUBRESOURCE_VERBS[subresource] ?? ['get', 'patch', 'update'],
            })),
          })),
      })),
    })),
  };
}

/** /api in the older form. */
export const coreVersions = (): Dict => ({ kind: 'APIVersions', versions: ['v1'] });

/** /apis in the older form. */
export const groupList = (types: readonly ResourceType[]): Dict => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupsOf(types)
    .filter((group) => group !== '')
    .map((group) => groupOf(types, group)),
});

export function groupOf(types: readonly ResourceType[], name: string): Dict {
  const versions = versionsOf(types, name).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion: versions[0] };
}

/** The resources of a version; null: there are none. */
export function resourceList(types: readonly ResourceType[], group: string, version: string): Dict | null {
  const own = types.filter((type) => type.group === group && type.version === version);
  if (own.length === 0) return null;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: own.flatMap((type) => [
      {
        name: type.resource,
        singularName: type.singular,
        namespaced: type.isNamespaced,
        kind: type.kind,
        verbs: VERBS,
        shortNames: type.shortNames,
        ...categoriesOf(type),
      },
      ...type.subresources.map((subresource) => ({
        name: `${type.resource}/${subresource}`,
        singularName: '',
        namespaced: type.isNamespaced,
        ...kindOfSubresource(type, subresource),
        verbs: SUBRESOURCE_VERBS[subresource] ?? ['get', 'patch', 'update'],
      })),
    ]),
  };
}

const pathOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** /openapi/v3: where the document of each version is. */
export function openapiRoot(types: readonly ResourceType[]): Dict {
  const paths = [...new Set(types.map(pathOf))];
  return {
    paths: Object.fromEntries(
      paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${types.length}` }]),
    ),
  };
}

const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

/**
 * The document of a version: which parameters writes take. Schemas say nothing of the fields, so clients leave checks and merges
 * to the server or to their own types.
 */
export function openapiDocument(types: readonly ResourceType[], path: string): Dict | null {
  const own = types.filter((type) => pathOf(type) === path);
  if (own.length === 0) return null;
  const paths = own.map((type): [string, Dict] => {
    const kind = { group: type.group, version: type.version, kind: type.kind };
    const place = type.isNamespaced ? '/namespaces/{namespace}' : '';
    const answer = { 200: { description: 'OK', content: {} } };
    return [
      `/${path}${place}/${type.resource}/{name}`,
      {
        get: { 'x-kubernetes-action': 'get', 'x-kubernetes-group-version-kind': kind, responses: answer },
        patch: {
          'x-kubernetes-action': 'patch',
          'x-kubernetes-group-version-kind': kind,
          parameters: WRITE_PARAMETERS,
          responses: answer,
        },
      },
    ];
  });
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.32.0' },
    paths: Object.fromEntries(paths),
    components: {
      schemas: Object.fromEntries(
        own.map(({ group, version, kind }) => [
          `double.${group}.${version}.${kind}`,
          { type: 'object', 'x-kubernetes-group-version-kind': [{ group, version, kind }] },
        ]),
      ),
    },
  };
}
