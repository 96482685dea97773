import type { Clock } from '@baton/kernel';

/** Services that the operations need from their worker. */
export interface CompositionDeps {
  /** Address of the API of this manager, without a path: http://gateway:8080 */
  managerUrl: string;
  clock: Clock;
  /** Fetches a file by http or https, guarded against addresses inside the installation. */
  download(url: string, signal: AbortSignal): Promise<Uint8Array>;
}
