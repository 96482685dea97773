/** The reason why a start failed, for the operator of the service: one sentence and an exit code, no stack. */
import { AppError } from '@baton/kernel';
import { CONFIG_EXIT_CODE } from '../config/config';

export interface StartProblem {
  text: string;
  /** 78: a variable has to change; 1: the same configuration may work later. */
  exitCode: 1 | typeof CONFIG_EXIT_CODE;
}

interface SystemError extends Error {
  code?: string;
  syscall?: string;
  address?: string;
  port?: number;
}

/** SQLSTATEs of PostgreSQL that only another DATABASE_URL, or another database, fixes. */
const DATABASE_REFUSALS: Record<string, string> = {
  '28P01': 'the password of the login is wrong',
  '28000': 'the login is not let in',
  '3D000': 'the database does not exist',
  '42501': 'the login has not the rights that it needs',
};
const LISTEN_ERRORS: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'may not be listened on by this user',
  EADDRNOTAVAIL: 'is at an address that this machine has not',
};

/** Returns the problem that an operator can fix; null: a bug, whose stack is needed. */
export function startProblem(error: unknown): StartProblem | null {
  const { code = '', syscall, address, port, message } = error as SystemError;
  const listening = syscall === 'listen' || syscall === 'bind' ? LISTEN_ERRORS[code] : undefined;
  if (listening !== undefined)
    return {
      text: `Port ${port ?? ''} of ${address ?? ''} ${listening} (BATON_HTTP_PORT, BATON_RPC_PORT, BATON_OPS_PORT).`,
      exitCode: code === 'EADDRINUSE' ? 1 : CONFIG_EXIT_CODE,
    };
  const refusal = DATABASE_REFUSALS[code];
  if (refusal !== undefined)
    return { text: `DATABASE_URL: ${refusal} (${message}).`, exitCode: CONFIG_EXIT_CODE };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ETIMEDOUT')
    return { text: `A server cannot be reached: ${message || code}.`, exitCode: 1 };
  // Our own errors have a sentence; an unexpected error has the code internal_server_error.
  if (error instanceof AppError && error.code !== 'internal_server_error')
    return { text: `${error.message}.`, exitCode: 1 };
  return null;
}
