import type { Places } from '../context/places';

/** What answers of ctx do on this machine for the operation. */
export interface CtxWork {
  places: Places;
  /** A folder that the operation may use; fine when it is there. */
  makeFolder(path: string): Promise<void>;
}
