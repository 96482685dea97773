// What other plugins need of a cluster: the plugin for helm is built with it.
export { clusterConfigOf } from './client/cluster-of-node';
export type { Connection } from './client/connection';
export { KubeApi } from './client/kube-api';
export { type KubeObject, shownReference } from './client/kube-object';
export { resolveConnection } from './client/resolve';
export { CLIENT_CONFIG, type ClientConfig } from './client/schema';
export { readManifests, readYaml } from './manifests/read-manifests';
export { differencesOf } from './resources/drift';
export { readinessOf } from './resources/readiness';
