import type { Dict } from './object';
import { dictOf, type KubeObject, listOf } from './object';

/** A resource of the API: one version of one plural name. */
export interface ResourceType {
  group: string;
  version: string;
  /** Plural name, as in addresses. */
  resource: string;
  singular: string;
  kind: string;
  isNamespaced: boolean;
  shortNames: readonly string[];
  subresources: readonly string[];
  /** Of a CustomResourceDefinition: lists are atomic and there are no defaults. */
  isCustom: boolean;
}

type Row = [resource: string, kind: string, shortNames: string, subresources?: string];

const NAMESPACED: Record<string, Row[]> = {
  v1: [
    ['configmaps', 'ConfigMap', 'cm'],
    ['endpoints', 'Endpoints', 'ep'],
    ['events', 'Event', 'ev'],
    ['limitranges', 'LimitRange', 'limits'],
    ['persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc', 'status'],
    ['pods', 'Pod', 'po', 'status log eviction'],
    ['podtemplates', 'PodTemplate', ''],
    ['replicationcontrollers', 'ReplicationController', 'rc', 'status scale'],
    ['resourcequotas', 'ResourceQuota', 'quota', 'status'],
    ['secrets', 'Secret', ''],
    ['serviceaccounts', 'ServiceAccount', 'sa', 'token'],
    ['services', 'Service', 'svc', 'status'],
  ],
  'apps/v1': [
    ['controllerrevisions', 'ControllerRevision', ''],
    ['daemonsets', 'DaemonSet', 'ds', 'status'],
    ['deployments', 'Deployment', 'deploy', 'status scale'],
    ['replicasets', 'ReplicaSet', 'rs', 'status scale'],
    ['statefulsets', 'StatefulSet', 'sts', 'status scale'],
  ],
  'batch/v1': [
    ['cronjobs', 'CronJob', 'cj', 'status'],
    ['jobs', 'Job', '', 'status'],
  ],
  'autoscaling/v2': [['horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'hpa', 'status']],
  'coordination.k8s.io/v1': [['leases', 'Lease', '']],
  'discovery.k8s.io/v1': [['endpointslices', 'EndpointSlice', '']],
  'events.k8s.io/v1': [['events', 'Event', 'ev']],
  'networking.k8s.io/v1': [
    ['ingresses', 'Ingress', 'ing', 'status'],
    ['networkpolicies', 'NetworkPolicy', 'netpol'],
  ],
  'policy/v1': [['poddisruptionbudgets', 'PodDisruptionBudget', 'pdb', 'status']],
  'rbac.authorization.k8s.io/v1': [
    ['rolebindings', 'RoleBinding', ''],
    ['roles', 'Role', ''],
  ],
};

const CLUSTER_WIDE: Record<string, Row[]> = {
  v1: [
    ['namespaces', 'Namespace', 'ns', 'status finalize'],
    ['nodes', 'Node', 'no', 'status'],
    ['persistentvolumes', 'PersistentVolume', 'pv', 'status'],
  ],
  'apiextensions.k8s.io/v1': [
    ['customresourcedefinitions', 'CustomResourceDefinition', 'crd crds', 'status'],
  ],
  'networking.k8s.io/v1': [['ingressclasses', 'IngressClass', '']],
  'rbac.authorization.k8s.io/v1': [
    ['clusterrolebindings', 'ClusterRoleBinding', ''],
    ['clusterroles', 'ClusterRole', ''],
  ],
  'scheduling.k8s.io/v1': [['priorityclasses', 'PriorityClass', 'pc']],
  'storage.k8s.io/v1': [['storageclasses', 'StorageClass', 'sc']],
};

const words = (text = ''): string[] => text.split(' ').filter(Boolean);

const rows = (table: Record<string, Row[]>, isNamespaced: boolean): ResourceType[] =>
  Object.entries(table).flatMap(([apiVersion, list]) =>
    list.map(([resource, kind, shortNames, subresources]) => ({
      ...splitVersion(apiVersion),
      resource,
      kind,
      singular: kind.toLowerCase(),
      isNamespaced,
      shortNames: words(shortNames),
      subresources: words(subresources),
      isCustom: false,
    })),
  );

function splitVersion(apiVersion: string): { group: string; version: string } {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  return { group: group!, version: version! };
}

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;

/** The resources that the server knows now: those of every cluster, and those of definitions. */
export class Resources {
  readonly #builtIn = [...rows(NAMESPACED, true), ...rows(CLUSTER_WIDE, false)];
  #custom: ResourceType[] = [];

  all(): ResourceType[] {
    return [...this.#builtIn, ...this.#custom];
  }

  find(group: string, version: string, resource: string): ResourceType | undefined {
    return this.all().find(
      (type) => type.group === group && type.version === version && type.resource === resource,
    );
  }

  ofKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.all().find((type) => apiVersionOf(type) === apiVersion && type.kind === kind);
  }

  /** Takes the definitions that exist now. */
  setDefinitions(definitions: readonly KubeObject[]): void {
    this.#custom = definitions.flatMap(({ spec = {} }) => {
      const names = dictOf(spec.names);
      return listOf(spec.versions)
        .filter(({ served }) => served !== false)
        .map((version) => ({
          group: String(spec.group),
          version: String(version.name),
          resource: String(names.plural),
          singular: String(names.singular ?? String(names.kind).toLowerCase()),
          kind: String(names.kind),
          isNamespaced: spec.scope === 'Namespaced',
          shortNames: Array.isArray(names.shortNames) ? names.shortNames.map(String) : [],
          subresources: Object.keys(dictOf(version.subresources) as Dict),
          isCustom: true,
        }));
    });
  }
}
