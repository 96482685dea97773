import type { GroupStatusRule } from '../queries/execution-groups';

/** The differences between the wires for execution groups. */
export interface GroupsWire extends GroupStatusRule {
  /** Whether an action, other than a resume, that applies to no execution is an error. */
  refusesEmptyActions: boolean;
}

/** The wire of the specification. */
export const specGroups: GroupsWire = { tellsCancelled: true, refusesEmptyActions: false };
