import { isAbsolute, posix } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';

/** @throws FatalError for a path that leads out of the blueprint */
export function requireInside(path: string, name: string): string {
  const plain = posix.normalize(path.replace(/\/+$/, ''));
  if (isAbsolute(plain) || plain === '..' || plain.startsWith('../') || plain.includes('\0'))
    throw new FatalError(
      `${name}: ${JSON.stringify(path)} leads out of the blueprint; expected a path inside`,
    );
  return plain;
}
