import type { Places } from '../context/places';

/** Functions that ctx runs on this machine for the operation. */
export interface CtxWork {
  places: Places;
  /** Makes a folder that the operation may use; an existing folder is accepted. */
  makeFolder(path: string): Promise<void>;
  /** Masks what scripts write into the log. */
  hide?(text: string): string;
}
