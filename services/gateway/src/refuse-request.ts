/** Refusals of the edge: the answer, and one line of the log for what operators look for. */
import type { RouteContract } from '@baton/contracts';
import type { AppError, FloodLog } from '@baton/kernel';
import { answerError } from './answer-error';
import type { Exchange } from './exchange';
import { UNLESS_SAID } from './fixed-headers';

export const AUTH_METHOD = 'x-cloudify-audit-auth-method';

/** Answers an error and notes why. */
export function refuse(floods: FloodLog, exchange: Exchange, thrown: unknown): void {
  const { request, response, answerHeaders } = exchange;
  // On every answer (reference/rest-api.md 1.2).
  if (!answerHeaders.includes(AUTH_METHOD)) answerHeaders.push(AUTH_METHOD, '');
  const error = answerError(response, thrown, [...answerHeaders, ...UNLESS_SAID], request);
  exchange.reason = error.message;
  logFailure(floods, exchange, error);
}

/** Only what is a fault of ours: refusals have lines of their own, and maintenance is wanted. */
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
 * At the end of an answer: who was refused what; the same again is counted for a minute. The reason is known where the
 * gateway itself refused. Queries may hold secrets: they are left out.
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
