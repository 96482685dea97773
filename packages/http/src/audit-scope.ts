/**
 * The request in progress, for the audit log. An entry is recorded exactly when something was changed; a crash loses both or
 * neither.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type AuditScope, auditScopeKey, type ChangeMade, type RouteContract } from '@baton/contracts';
import { namesIn } from './audit-names';
import type { RequestCall } from './request-call';

const shared = globalThis as { [auditScopeKey]?: AsyncLocalStorage<AuditScope> };
const storage: AsyncLocalStorage<AuditScope> = (shared[auditScopeKey] ??=
  new AsyncLocalStorage<AuditScope>());

/** Names of resources in the original's log, where they differ from the path. */
const TABLES: Record<string, string> = {
  license: 'licenses',
  'user-groups': 'groups',
  labels: 'labels',
  'file-server-proxy': 'resources',
};

/** Runs the handler of a changing request so that its change is recorded; reads are run directly. */
export async function audited<T>(
  service: string,
  contract: RouteContract,
  call: RequestCall,
  handler: () => Promise<T> | T,
): Promise<T> {
  // The end of a sign-in at a provider is a redirect, so a GET, and opens a session.
  const isRead = contract.method === 'GET' && contract.session !== 'returns';
  if (isRead || contract.isNotAudited === true) return handler();
  const scope: AuditScope = {
    isOpen: true,
    isRecorded: false,
    tenant: call.principal.tenant,
    schema: service.replaceAll('-', '_'),
    entry: () => entryOf(contract, call),
  };
  try {
    return await storage.run(scope, handler);
  } finally {
    scope.isOpen = false;
  }
}

function entryOf(contract: RouteContract, call: RequestCall): ChangeMade {
  const { principal, params } = call;
  const values = Object.values(params);
  return {
    refTable: tableOf(contract.path),
    refId: values.at(-1) ?? '',
    refIdentifier: {
      ...namesIn(call.body),
      ...params,
      ...(principal.tenant === '' ? {} : { tenant: principal.tenant }),
    },
    operation: operationOf(contract),
    username: principal.username,
    executionId: principal.executionId,
    requestId: call.requestId,
    route: contract.id,
  };
}

/** `/filters/deployments/:id` -> deployments_filters, `/execution-schedules/:id` -> execution_schedules. */
function tableOf(path: string): string {
  const [first, second] = path.split('/').slice(1);
  if (first === 'filters' && second) return `${second}_filters`;
  return TABLES[first!] ?? first!.replaceAll('-', '_');
}

/** A PUT on a resource and a POST on a collection create; requests below an existing resource update it. */
function operationOf({ method, path, status }: RouteContract): ChangeMade['operation'] {
  if (method === 'DELETE') return 'delete';
  if (method === 'PATCH') return 'update';
  const isBelow = /\/:\w+\/[^:]+$/.test(path);
  const isOnOne = /\/:\w+$/.test(path);
  if (status === 201) return 'create';
  return isBelow || (method === 'POST' && isOnOne) ? 'update' : 'create';
}
