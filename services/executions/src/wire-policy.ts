import { cloudifyEvents } from './events/http/cloudify/wire-policy';
import { type EventsWire, specEvents } from './events/http/wire-policy';
import { cloudifyExecutions } from './executions/http/cloudify/wire-policy';
import { type ExecutionsWire, specExecutions } from './executions/http/wire-policy';
import { cloudifyOperations } from './foreign-operations/http/cloudify/wire-policy';
import { type OperationsWire, specOperations } from './foreign-operations/http/wire-policy';
import { cloudifyGroups } from './groups/http/cloudify/wire-policy';
import { type GroupsWire, specGroups } from './groups/http/wire-policy';
import { cloudifySchedules } from './schedules/http/cloudify/wire-policy';
import { type SchedulesWire, specSchedules } from './schedules/http/wire-policy';

/** The differences between the wires, by folder. `service.ts` builds one policy and gives each folder its part. */
export interface WirePolicy {
  executions: ExecutionsWire;
  events: EventsWire;
  groups: GroupsWire;
  schedules: SchedulesWire;
  operations: OperationsWire;
}

/** The wire of the specification. */
export const specWire: WirePolicy = {
  executions: specExecutions,
  events: specEvents,
  groups: specGroups,
  schedules: specSchedules,
  operations: specOperations,
};

/** The wire of the original (docs/compatibility.md). */
export const cloudifyWire: WirePolicy = {
  executions: cloudifyExecutions,
  events: cloudifyEvents,
  groups: cloudifyGroups,
  schedules: cloudifySchedules,
  operations: cloudifyOperations,
};
