import { FatalError } from '../errors';
import { downloadsAreRefused } from './config';

/**
 * To be called before a program is downloaded in whatever way. `name`: what is downloaded, without credentials and query.
 * @throws FatalError where the operator refuses downloads (BATON_WORKER_DOWNLOADS)
 */
export function requireDownloads(name: string): void {
  if (downloadsAreRefused())
    throw new FatalError(
      `${name} is not downloaded: this manager downloads nothing for plugins (BATON_WORKER_DOWNLOADS)`,
    );
}
