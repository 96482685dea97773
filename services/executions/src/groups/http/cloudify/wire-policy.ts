import type { GroupsWire } from '../wire-policy';

/** The wire of the original. */
export const cloudifyGroups: GroupsWire = {
  tellsCancelled: false,
  // The original finds no execution to cancel then.
  refusesEmptyActions: true,
};
