import type { GroupsWire } from '../wire-policy';

/** The wire of the original. */
export const cloudifyGroups: GroupsWire = {
  tellsCancelled: false,
  // The original then reports that it finds no execution to cancel.
  refusesEmptyActions: true,
};
