export { clusterConfigOf } from './cluster-of-node';
export type { Connection } from './connection';
export { resolveConnection } from './resolve';
export { CLIENT_CONFIG, type ClientConfig } from './schema';
