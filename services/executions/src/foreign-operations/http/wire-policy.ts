import type { Shown } from '../../engine/queries/list-operations';

/** What differs between the wires for stored operations. */
export interface OperationsWire extends Pick<Shown, 'onFailure'> {
  /** Whether a list is always a page in an envelope. Otherwise it is bare, and a page only where one is asked for. */
  isPaged: boolean;
  /** Whether a change answers the operation as it is now. Otherwise it answers an empty object. */
  showsChanged: boolean;
  /** Whether a delete answers the operation as it was. Otherwise it answers 204. */
  showsDeleted: boolean;
}

/** The wire of the specification. */
export const specOperations: OperationsWire = {
  onFailure: ({ policy }) => policy.onFailure,
  isPaged: false,
  showsChanged: true,
  showsDeleted: false,
};
