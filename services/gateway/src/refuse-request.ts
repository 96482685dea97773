/** Refusals of the gateway: the answer, and one log line for operators. */
import type { RouteContract } from '@baton/contracts';
import type { AppError, FloodLog } from '@baton/kernel';
import { answerError } from './answer-error';
import type { Exchange } from './exchange';
import { UNLESS_SAID } from './fixed-headers';

export const AUTH_METHOD = 'x-cloudify-audit-auth-method';

/** Answers an error and stores its reason. */
export function refuse(floods: FloodLog, exchange: Exchange, thrown: unknown): void {
  const { request, response, answerHeaders } = exchange;
  // This header is on every answer (reference/rest-api.md 1.2).
  if (!answerHeaders.includes(AUTH_METHOD)) answerHeaders.push(AUTH_METHOD, '');
  const error = answerError(response, thrown, [...answerHeaders, ...UNLESS_SAID], request);
  exchange.reason = error.message;
  logFailure(floods, exchange, error);
}

/** Logs only errors of the manager itself: refusals have their own lines, and maintenance is intended. */
function logFailure(floods: FloodLog, { method, api, address, caller }: Exchange, error: AppError): void {
  if (error.entry.http < 500 || error.code === 'maintenance_mode_active') return;
  floods.error(
    caller?.principal.username ?? address,
    `${error.code} ${error.message}`,
    { method, path: api.path, errorCode: error.code, err: error.cause ?? error },
    'request failed',
  );
}

const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 429;

/**
 * Logs a refusal at the end of its answer; repetitions are counted for a minute. The reason is known when the gateway itself
 * refused. Queries may hold secrets, so they are not logged.
 */
export function logRefusal(floods: FloodLog, exchange: Exchange, contract: RouteContract): void {
  if (!isRefusal(exchange.response.statusCode)) return;
  const { method, api, address, caller, reason, headers } = exchange;
  const { username = null, tenant = null, executionId = null } = caller?.principal ?? {};
  const { id: route, permission } = contract;
  floods.warn(
    username ?? address,
    `${method} ${api.path} ${tenant} ${reason}`,
    {
      requestId: headers.requestId,
      route,
      permission,
      method,
      path: api.path,
      address,
      username,
      tenant,
      executionId,
      reason,
    },
    'request refused',
  );
}
