import type { Clock } from '@baton/kernel';

/** What the operations ask of the worker that runs them. */
export interface CompositionDeps {
  /** Address of the API of this manager, without a path: http://gateway:8080 */
  managerUrl: string;
  clock: Clock;
  /** A file by http or https, guarded against addresses inside the installation. */
  download(url: string, signal: AbortSignal): Promise<Uint8Array>;
}
