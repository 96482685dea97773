import type { executionsRpc, identityRpc, Principal } from '@baton/contracts';
import { AppError, isAppError } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import { type Credential, EXECUTION_TOKEN } from './credentials';
import type { LoginGuard } from './login-guard';
import { type Caller, callerOf, type PrincipalCache } from './principal-cache';

export interface AuthenticateDeps {
  identity: RpcClient<identityRpc.IdentityServiceDefinition>;
  executions: RpcClient<executionsRpc.ExecutionsServiceDefinition>;
  cache: PrincipalCache;
  logins: LoginGuard;
}

export interface AuthenticationScope {
  /** Tenant that the request names; empty: none. */
  tenant: string;
  /** v2.1: a request without a tenant means default_tenant. */
  isLegacy: boolean;
  /** Permission of the route when the request reaches into all tenants, else empty. */
  allTenantsPermission: string;
  /** Address of the client as client-address.ts returns it: failed logins delay this address. */
  address: string;
  /**
   * The request opens an event stream, or checks an open one again: such a request does not count as a use of its session or token.
   */
  isWatching: boolean;
}

const DEADLINE_MS = 5_000;

export function noCredentials(): AppError {
  return new AppError('unauthorized_error', 'User unauthorized: No authentication info provided');
}

/**
 * Returns the caller of a request. Answers of identity are cached for as long as identity allows (about a second), and are dropped
 * at once when identity reports a change. Execution tokens are looked up for every request: they must become invalid together with
 * their execution.
 * @throws AppError unauthorized_error; forbidden_error for an unknown tenant; service_unavailable_error.
 */
export function authenticate(
  deps: AuthenticateDeps,
  credential: Credential,
  scope: AuthenticationScope,
): Caller | Promise<Caller> {
  const { tenant, isLegacy, allTenantsPermission, isWatching } = scope;
  if (credential.kind === 'execution') return authenticateExecution(deps, credential.token, scope);
  const who =
    credential.kind === 'basic'
      ? { username: credential.username, password: credential.password }
      : credential.kind === 'session'
        ? { session: credential.secret }
        : { token: credential.token };
  return deps.cache.get(
    [
      credential.kind,
      ...Object.values(who),
      tenant,
      isLegacy ? 'legacy' : '',
      allTenantsPermission,
      isWatching ? 'watching' : '',
    ],
    async () => {
      const ask = () =>
        answered(
          'identity',
          deps.identity.authenticate(
            { ...who, tenant, isLegacy, allTenantsPermission, isWatching },
            { deadlineMs: DEADLINE_MS },
          ),
        );
      if (credential.kind !== 'basic') return answerOf(await ask());
      const { username, password } = credential;
      return answerOf(await deps.logins.guard({ username, password, address: scope.address }, ask));
    },
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
  const { tenant } = execution;
  if (scope.tenant !== '' && scope.tenant !== tenant)
    throw new AppError('forbidden_error', 'The token of an execution is good in its own tenant only');
  const { principal } = await deps.cache.get(['execution', execution.createdBy, tenant], async () =>
    answerOf(
      await answered(
        'identity',
        deps.identity.getPrincipal(
          { username: execution.createdBy, tenant, forExecution: true },
          { deadlineMs: DEADLINE_MS },
        ),
      ),
    ),
  );
  return {
    ...callerOf(asExecution(principal, execution)),
    ...(execution.isAgent && { agent: ofAgent(execution) }),
    executionTenant: execution.tenant,
    isCancelling: execution.status.endsWith('cancelling'),
  };
}

type Execution = executionsRpc.ResolveExecutionTokenResponse;

const ofAgent = ({
  tenant,
  deploymentId,
  blueprintId,
  instances,
}: Execution): NonNullable<Caller['agent']> => ({
  tenant,
  deploymentId,
  blueprintId,
  instances,
});

const ofExecutions = new WeakMap<Principal, Map<string, Principal>>();

/**
 * Returns the same Principal object for the same execution, so that it is signed for the services once and not for each request.
 */
function asExecution(
  principal: Principal,
  { executionId, isAgent, deploymentId, instances }: Execution,
): Principal {
  const known = ofExecutions.get(principal) ?? new Map<string, Principal>();
  ofExecutions.set(principal, known);
  // An agent's token is not that of its execution, nor that of another operation: they are kept apart.
  const name = isAgent ? JSON.stringify([executionId, ...instances]) : executionId;
  let made = known.get(name);
  if (!made) {
    made = {
      ...principal,
      authMethod: 'execution_token',
      executionId,
      ...(isAgent && { agentDeploymentId: deploymentId, agentInstances: instances }),
    };
    known.set(name, made);
  }
  return made;
}

/**
 * Turns a timeout of the lookup into 503 instead of 504: nothing of the request was done yet, so the client can simply repeat it.
 */
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

function answerOf({ principal, cacheMs, endsInMs }: identityRpc.AuthenticateResponse): {
  principal: Principal;
  cacheMs: number;
  endsInMs?: number;
} {
  if (!principal) throw new AppError('internal_server_error', 'identity answered without a principal');
  return { principal: principal as Principal, cacheMs, endsInMs };
}
