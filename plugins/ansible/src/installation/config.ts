import { delimiter } from 'node:path';

/** The folders of PATH, in their order. */
export const searchFolders = (): string[] =>
  (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
