import type { SeededFault } from './seeded-faults';

const executions = (file: string) => `services/executions/src/${file}.ts`;

/** Bugs in the firing of schedules: played in separate worlds. */
export const scheduleFaults: readonly SeededFault[] = [
  {
    name: 'an execution of a schedule is accepted in another transaction than its occurrence is noted in',
    file: executions('schedules/commands/fire-schedules'),
    find: '      isNoted = reason === null && (await markFired(tx, due, row.id));\n      if (!isNoted)',
    replace: '      isNoted = row.id === due.id;\n      if (row.id === due.id)',
  },
  {
    name: 'an occurrence is decided and not noted',
    file: executions('schedules/commands/fire-schedules'),
    find: '  await insertOccurrences(tx, schedule.key, decisions);\n',
    replace: '',
  },
  {
    name: 'a schedule does not move on',
    file: executions('schedules/commands/fire-schedules'),
    find: '  await advanceSchedule(tx, schedule.key, next);\n',
    replace: '',
  },
  {
    name: 'the first of several times that have come does not count as running',
    file: 'services/executions/src/schedules/domain/schedule.ts',
    find: '    if (reason === null) isRunning = true;\n',
    replace: '',
  },
  {
    name: 'a schedule fires beside the run before',
    file: 'services/executions/src/schedules/domain/schedule.ts',
    find: "let isRunning = previous === 'running';",
    replace: 'let isRunning = false;',
  },
  {
    name: 'what could not be started once is given up',
    file: executions('schedules/commands/fire-schedules'),
    find: '  if (reasonOf(due, due) !== null) await skip(deps, due, (err as Error).message);\n',
    replace:
      "  await deps.db.tx((tx) => markNotFired(tx, due, 'skipped', 'it could not be started in time'));\n",
  },
  {
    name: 'what was decided in time starts however late',
    file: 'services/executions/src/schedules/domain/schedule.ts',
    find: '  return hasSlipped(schedule, atMs, nowMs)\n    ? `it',
    replace: '  return atMs > nowMs && hasSlipped(schedule, nowMs, atMs)\n    ? `it',
  },
  {
    name: 'what was due when its schedule was disabled starts all the same',
    file: 'services/executions/src/schedules/domain/schedule.ts',
    find: "  if (!schedule.enabled) return 'the schedule was disabled before it could be started';\n",
    replace: '',
  },
  {
    name: 'a change of a schedule loses what has come and is not decided',
    file: executions('schedules/commands/fire-schedules'),
    find: '  while (schedule && isDue(schedule)) schedule = await decide(deps, tx, schedule);\n',
    replace: '',
  },
];
