import type { executionsRpc, identityRpc, Principal } from '@baton/contracts';
import { AppError, isAppError } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import { type Credential, EXECUTION_TOKEN } from './credentials';
import { type Caller, callerOf, type PrincipalCache } from './principal-cache';

export interface AuthenticateDeps {
  identity: RpcClient<identityRpc.IdentityServiceDefinition>;
  executions: RpcClient<executionsRpc.ExecutionsServiceDefinition>;
  cache: PrincipalCache;
}

export interface AuthenticationScope {
  /** Tenant that the request names; empty: none. */
  tenant: string;
  /** v2.1: without a tenant default_tenant is meant. */
  isLegacy: boolean;
  /** Permission of the route when the request reaches into all tenants, else empty. */
  allTenantsPermission: string;
  /** Of the client, as client-address.ts names it: failed logins slow it down. */
  address: string;
}

const DEADLINE_MS = 5_000;

export function noCredentials(): AppError {
  return new AppError('unauthorized_error', 'User unauthorized: No authentication info provided');
}

/**
 * Who calls. Answers of identity are reused for as long as it allows (about a second), and dropped at once when it says
 * that something changed. Execution tokens are looked up for every request: they must die with their execution.
 * @throws AppError unauthorized_error; forbidden_error for an unknown tenant; service_unavailable_error.
 */
export function authenticate(
  deps: AuthenticateDeps,
  credential: Credential,
  scope: AuthenticationScope,
): Caller | Promise<Caller> {
  const { tenant, isLegacy, allTenantsPermission } = scope;
  if (credential.kind === 'execution') return authenticateExecution(deps, credential.token, scope);
  const who =
    credential.kind === 'basic'
      ? { username: credential.username, password: credential.password }
      : { token: credential.token };
  return deps.cache.get(
    [credential.kind, ...Object.values(who), tenant, isLegacy ? 'legacy' : '', allTenantsPermission],
    async () =>
      answerOf(
        await answered(
          'identity',
          deps.identity.authenticate(
            { ...who, tenant, isLegacy, allTenantsPermission },
            { deadlineMs: DEADLINE_MS },
          ),
        ),
      ),
  );
}

async function authenticateExecution(
  deps: AuthenticateDeps,
  token: string,
  scope: AuthenticationScope,
): Promise<Caller> {
  if (!EXECUTION_TOKEN.test(token)) throw badExecutionToken();
  const execution = await answered(
    'executions',
    deps.executions.resolveExecutionToken({ token }, { deadlineMs: DEADLINE_MS }),
  ).catch((error) => {
    if (isAppError(error) && error.entry.retryable) throw error;
    throw badExecutionToken(error);
  });
  if (execution.executionId === '') throw badExecutionToken();
  const tenant = scope.tenant === '' ? execution.tenant : scope.tenant;
  const { allTenantsPermission } = scope;
  const { principal } = await deps.cache.get(
    ['user', execution.createdBy, tenant, allTenantsPermission],
    async () =>
      answerOf(
        await answered(
          'identity',
          deps.identity.getPrincipal(
            { username: execution.createdBy, tenant, allTenantsPermission },
            { deadlineMs: DEADLINE_MS },
          ),
        ),
      ),
  );
  const caller = callerOf({
    ...principal,
    authMethod: 'execution_token',
    executionId: execution.executionId,
  });
  return {
    ...caller,
    executionTenant: execution.tenant,
    isCancelling: execution.status.endsWith('cancelling'),
  };
}

/** Nothing of the request was done yet when nobody could say who asks: 503 and not 504, so that it is simply repeated. */
async function answered<T>(service: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!isAppError(error, 'request_timeout_error')) throw error;
    throw new AppError(
      'service_unavailable_error',
      `Service ${service} does not answer`,
      {},
      { cause: error },
    );
  }
}

function badExecutionToken(cause?: unknown): AppError {
  return new AppError('unauthorized_error', 'User unauthorized: Invalid execution token', {}, { cause });
}

function answerOf({ principal, cacheMs }: identityRpc.AuthenticateResponse): {
  principal: Principal;
  cacheMs: number;
} {
  if (!principal) throw new AppError('internal_server_error', 'identity answered without a principal');
  return { principal: principal as Principal, cacheMs };
}
