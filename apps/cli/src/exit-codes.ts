import { ApiError } from '@baton/client';
import { CommanderError } from 'commander';
import { CommandFailure } from './failure';

/** Exit codes of the program; scripts rely on them. `docs/cli.md` lists them, and a test holds both together. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  executionFailed: 6,
  waitEnded: 7,
  /** As shells count it: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

/** Codes of an answer that a proxy or the gateway gives for a service that does not answer. Maintenance mode is no such code. */
const UNREACHED = new Set(['http_502', 'http_503', 'http_504', 'service_unavailable_error']);

/** Returns the exit code for an error that ended a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof CommandFailure) return error.exitCode;
  if (error instanceof ApiError) return codeOfRefusal(error);
  return isConnectionFailure(error) ? exitCodes.unreachable : exitCodes.failed;
}

function codeOfRefusal({ status, errorCode }: ApiError): number {
  if (status === 404) return exitCodes.notFound;
  if (UNREACHED.has(errorCode)) return exitCodes.unreachable;
  // 503 with another code is a decision: the manager is in maintenance mode.
  return status < 500 || status === 503 ? exitCodes.refused : exitCodes.failed;
}

/** Whether no answer came: fetch reports a refused or lost connection as a TypeError, an expired time limit as TimeoutError. */
export function isConnectionFailure(error: unknown): boolean {
  const { name, message } = error as Error;
  return (name === 'TypeError' && message === 'fetch failed') || name === 'TimeoutError';
}
