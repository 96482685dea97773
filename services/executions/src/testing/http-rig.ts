import type { Principal } from '@baton/contracts';
import { type BoundRoute, createHttpApp, principalHeader, signPrincipal } from '@baton/http';
import { silentLog } from '@baton/kernel';
import { derivedTrust } from '@baton/trust';
import type { EngineSetup } from './engine-setup';

/** Some routes of the service behind a port of the loopback. */
export interface HttpRig {
  /** Asks as `principal`; an empty answer is null. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
  call(
    method: string,
    path: string,
    body?: object,
    principal?: Principal,
  ): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

export const admin: Principal = {
  userId: 0,
  username: 'admin',
  tenant: 'default_tenant',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['administrators'],
  authMethod: 'token',
  executionId: '',
  tenants: [],
  isBootstrapAdmin: true,
};

export async function httpRig({ internalKey }: EngineSetup, routes: BoundRoute[]): Promise<HttpRig> {
  const app = createHttpApp({
    service: 'executions',
    routes,
    trust: derivedTrust('executions', internalKey),
    log: silentLog,
    wire: 'spec',
    validateResponses: true,
  });
  const base = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}/api/v3.1`;
  return {
    async call(method, path, body, principal = admin) {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: {
          [principalHeader]: await signPrincipal(
            principal,
            derivedTrust('gateway', internalKey).identity,
            'executions',
          ),
          'content-type': 'application/json',
        },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    },
    close: () => app.close(),
  };
}
