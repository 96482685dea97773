export type { Connection } from './connection';
export { resolveConnection } from './resolve';
export { type ClientConfig, CLIENT_CONFIG } from './schema';
export { clusterConfigOf } from './cluster-of-node';
