import type { Shown } from '../../engine/queries/list-operations';

/** The differences between the wires for stored operations. */
export interface OperationsWire extends Pick<Shown, 'onFailure' | 'showsRuns'> {
  /** Whether a list is always a page in an envelope. Otherwise it is a bare list, and a page only on request. */
  isPaged: boolean;
  /** Whether the answer to a change is the changed operation. Otherwise it is an empty object. */
  showsChanged: boolean;
  /** Whether the answer to a delete is the deleted operation. Otherwise it is 204. */
  showsDeleted: boolean;
}

/** The wire of the specification. */
export const specOperations: OperationsWire = {
  onFailure: ({ policy }) => policy.onFailure,
  showsRuns: true,
  isPaged: false,
  showsChanged: true,
  showsDeleted: false,
};
