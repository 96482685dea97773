import type { ImportTables } from '@baton/import-part';
import { events } from './events';
import { executionGroups } from './execution-groups';
import { executions } from './executions';
import { exportedRecords } from './exported';
import { finishExecutions } from './finish';
import { activateSchedules, schedules } from './schedules';
import { tasksGraphs } from './tasks-graphs';

/** The part of this service in imports of other managers' estates. Events come behind the groups that some belong to. */
export const importTables: ImportTables = {
  importers: [executions, executionGroups, events, tasksGraphs, schedules],
  finish: finishExecutions,
  activate: async (client, wanted) => ({
    deployments: 0,
    schedules: await activateSchedules(client, wanted),
  }),
  exported: exportedRecords,
};
