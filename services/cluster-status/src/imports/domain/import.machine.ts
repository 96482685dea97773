import { defineMachine } from '@baton/kernel';

export type ImportState =
  | 'uploaded'
  | 'waiting'
  | 'checking'
  | 'checked'
  | 'preparing'
  | 'applying'
  | 'applied'
  | 'refused'
  | 'failed'
  | 'deleting';
export type ImportEvent =
  | 'checkRequested'
  | 'taken'
  | 'found'
  | 'refusedByArchive'
  | 'gaveUp'
  | 'applyRequested'
  | 'foundTheSame'
  | 'tookEffect'
  | 'deleteRequested';

/**
 * States of an import. docs/adr/0048-import-of-estates.md says for each what follows when a process dies in it. @public (drawn in
 * docs/generated)
 */
export const importMachine = defineMachine<ImportState, ImportEvent>({
  name: 'import',
  initial: 'uploaded',
  terminal: ['deleting'],
  on: {
    uploaded: { checkRequested: 'waiting', deleteRequested: 'deleting' },
    waiting: { taken: 'checking', deleteRequested: 'deleting' },
    checking: {
      found: 'checked',
      refusedByArchive: 'refused',
      gaveUp: 'failed',
      deleteRequested: 'deleting',
    },
    checked: { checkRequested: 'waiting', applyRequested: 'preparing', deleteRequested: 'deleting' },
    preparing: { foundTheSame: 'applying', refusedByArchive: 'refused', gaveUp: 'failed' },
    applying: { tookEffect: 'applied', gaveUp: 'failed' },
    applied: { checkRequested: 'waiting', deleteRequested: 'deleting' },
    refused: { checkRequested: 'waiting', deleteRequested: 'deleting' },
    failed: { checkRequested: 'waiting', deleteRequested: 'deleting' },
    deleting: {},
  },
});

/** The most attempts of a check or of the preparation of an apply; a crash begins a new attempt. */
export const MAX_ATTEMPTS = 5;

export type Verdict = 'clean' | 'losses' | 'refused';

/** Fates of the records of one type. `read` is the sum of all others. */
export interface TypeCounts {
  type: string;
  read: number;
  imported: number;
  same: number;
  skipped: number;
  replaced: number;
  lost: number;
  conflicts: number;
}

export const noCounts = (type: string): TypeCounts => ({
  type,
  read: 0,
  imported: 0,
  same: 0,
  skipped: 0,
  replaced: 0,
  lost: 0,
  conflicts: 0,
});
