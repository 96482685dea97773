import { AppError } from './app-error';

/** Errors of the operating system for a full disk, or an exhausted quota of this user. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);
/** Errors of a disk that cannot be written or read at the moment, or of too many open files. */
const FAILING: Record<string, string> = {
  EROFS: 'can only be read at the moment',
  EIO: 'cannot be read or written',
  EMFILE: 'cannot be opened: too many files are open',
  ENFILE: 'cannot be opened: too many files are open',
};

/** Returns a disk error as callers see it; null: another kind of error. `place`: the stored files, for people. */
export function diskFailure(error: unknown, place = 'the files of the manager'): AppError | null {
  const code = String((error as { code?: unknown } | null)?.code);
  if (FULL.has(code))
    return new AppError(
      'insufficient_storage_error',
      `There is no room left for ${place}`,
      { expected: 'free space on the disk of the manager' },
      { cause: error },
    );
  const why = FAILING[code];
  if (why === undefined) return null;
  return new AppError('service_unavailable_error', `The disk with ${place} ${why}`, {}, { cause: error });
}
