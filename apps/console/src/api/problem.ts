/** Errors of requests, prepared to be shown to people. */
import { ApiError } from '@baton/client';

export interface Problem {
  kind: 'offline' | 'signed-out' | 'forbidden' | 'missing' | 'refused';
  code: string;
  message: string;
  requestId: string | null;
  /** For refused input: the field, and the expected value. */
  details: Record<string, unknown>;
}

const GATEWAY_CODES = new Set(['http_502', 'http_503', 'http_504']);

export function problemOf(error: unknown): Problem {
  if (!(error instanceof ApiError)) {
    const { message } = error as Error;
    // fetch throws these when the server is unreachable.
    const isOffline = error instanceof TypeError || (error as Error).name === 'TimeoutError';
    return { kind: isOffline ? 'offline' : 'refused', code: '', message, requestId: null, details: {} };
  }
  const { status, errorCode: code, message, requestId, details } = error;
  return { kind: kindOf(status, code), code, message, requestId, details };
}

function kindOf(status: number, code: string): Problem['kind'] {
  if (GATEWAY_CODES.has(code)) return 'offline';
  if (status === 401) return 'signed-out';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'missing';
  return 'refused';
}

/** Whether the session has ended. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
