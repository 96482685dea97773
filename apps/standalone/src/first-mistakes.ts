import { ConfigError } from '@baton/service-runtime';
import { StartRefused } from './refusal';

/** The message and exit code of a failed start; `text` is one sentence, or the stack of an unexpected error. */
export interface Mistake {
  text: string;
  exitCode: number;
}

interface SystemError extends Error {
  code?: string;
  path?: string;
  address?: string;
  port?: number;
}

/** Errors of files: the home cannot be created or written. */
const FILE_ERRORS: Record<string, { reason: string; exitCode: 1 | 78 }> = {
  EACCES: { reason: 'this user may not write there', exitCode: 78 },
  EPERM: { reason: 'this user may not change it', exitCode: 78 },
  EROFS: { reason: 'the file system is read-only', exitCode: 78 },
  ENOTDIR: { reason: 'a part of the path is a file and no folder', exitCode: 78 },
  EEXIST: { reason: 'a file lies where a folder should be', exitCode: 78 },
  EISDIR: { reason: 'a folder lies where a file should be', exitCode: 78 },
  ENOENT: { reason: 'there is no such folder', exitCode: 78 },
  ENAMETOOLONG: { reason: 'the path is too long', exitCode: 78 },
  ELOOP: { reason: 'its links lead in a circle', exitCode: 78 },
  ENOSPC: { reason: 'the disk is full', exitCode: 1 },
  EDQUOT: { reason: 'the disk quota of this user is used up', exitCode: 1 },
};
const PORT_ERRORS = new Set(['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL']);

/** SQLSTATE disk_full. */
const DISK_FULL = '53100';

export function mistakeOf(error: unknown): Mistake {
  if (error instanceof StartRefused) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { text: configSentence(error), exitCode: 78 };
  const { code = '', path, port, address, message, stack } = error as SystemError;
  if (port !== undefined && PORT_ERRORS.has(code)) return portMistake(address ?? '', port, code);
  const ofFile = FILE_ERRORS[code];
  if (ofFile && path !== undefined)
    return { text: `${path} cannot be used: ${ofFile.reason} (BATON_HOME).`, exitCode: ofFile.exitCode };
  if (code === DISK_FULL || ofFile?.reason === FILE_ERRORS.ENOSPC!.reason)
    return { text: `The disk is full: ${message}.`, exitCode: 1 };
  return { text: stack ?? String(error), exitCode: 1 };
}

function configSentence({ problems, message }: ConfigError): string {
  return problems.length === 1 ? `The configuration is wrong: ${problems[0]}.` : message;
}

export function portMistake(host: string, port: number, code: string): Mistake {
  if (code === 'EADDRINUSE')
    return {
      text: `Port ${port} of ${host} is in use by another program: stop it, or set BATON_PORT to a free one.`,
      exitCode: 1,
    };
  if (code === 'EACCES')
    return {
      text: `This user may not listen on port ${port}: set BATON_PORT to one above 1023.`,
      exitCode: 78,
    };
  return { text: `${host} is no address of this machine: set BATON_HOST to one.`, exitCode: 78 };
}
