import { chooseWire, type Wire } from '@baton/http';
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

/** What differs between the wires, by room. `service.ts` builds one and gives each room its part. */
export interface WirePolicy {
  executions: ExecutionsWire;
  events: EventsWire;
  groups: GroupsWire;
  schedules: SchedulesWire;
  operations: OperationsWire;
}

const spec: WirePolicy = {
  executions: specExecutions,
  events: specEvents,
  groups: specGroups,
  schedules: specSchedules,
  operations: specOperations,
};

const cloudify: WirePolicy = {
  executions: cloudifyExecutions,
  events: cloudifyEvents,
  groups: cloudifyGroups,
  schedules: cloudifySchedules,
  operations: cloudifyOperations,
};

/** The policy of an installation whose wire is `wire`. */
export const wirePolicyOf = (wire: Wire): WirePolicy => chooseWire(wire, { spec, cloudify });
