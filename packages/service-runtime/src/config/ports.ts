import type { ServiceName } from '@baton/contracts';

/** Default ports of each service. */
export const defaultPorts: Record<ServiceName, { http: number; rpc: number }> = {
  gateway: { http: 8080, rpc: 8200 },
  identity: { http: 8101, rpc: 8201 },
  catalog: { http: 8102, rpc: 8202 },
  deployments: { http: 8103, rpc: 8203 },
  executions: { http: 8104, rpc: 8204 },
  secrets: { http: 8105, rpc: 8205 },
  'cluster-status': { http: 8106, rpc: 8206 },
  worker: { http: 8107, rpc: 8207 },
};

/** Services without their own database schema. */
const withoutSchema: readonly ServiceName[] = ['gateway', 'worker'];

/** PostgreSQL schema of a service; null where it has none. */
export function schemaOf(service: ServiceName): string | null {
  return withoutSchema.includes(service) ? null : service.replaceAll('-', '_');
}
