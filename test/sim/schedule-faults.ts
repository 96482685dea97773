import type { SeededFault } from './seeded-faults';

const commands = (file: string) => `services/executions/src/commands/${file}.ts`;

/** Bugs in the firing of schedules: played on their own worlds. */
export const scheduleFaults: readonly SeededFault[] = [
  {
    name: 'an execution of a schedule is accepted in another transaction than its occurrence is noted in',
    file: commands('fire-schedules'),
    find: '      isNoted = await markFired(tx, due, row.id);\n      if (!isNoted)',
    replace: '      isNoted = row.id === due.id;\n      if (row.id === due.id)',
  },
  {
    name: 'an occurrence is decided and not noted',
    file: commands('fire-schedules'),
    find: '  await insertOccurrences(tx, schedule.key, decisions);\n',
    replace: '',
  },
  {
    name: 'a schedule does not move on',
    file: commands('fire-schedules'),
    find: '  await advanceSchedule(tx, schedule.key, next);\n',
    replace: '',
  },
  {
    name: 'the first of several times that have come does not count as running',
    file: 'services/executions/src/domain/schedule.ts',
    find: '    if (reason === null) isRunning = true;\n',
    replace: '',
  },
  {
    name: 'a schedule fires beside the run before',
    file: 'services/executions/src/domain/schedule.ts',
    find: "let isRunning = previous === 'running';",
    replace: 'let isRunning = false;',
  },
  {
    name: 'what could not be started once is given up',
    file: commands('fire-schedules'),
    find: '  if (!hasSlipped(due, Date.parse(due.occurrence), due.now_ms)) return;\n',
    replace: '',
  },
  {
    name: 'a change of a schedule loses what has come and is not decided',
    file: commands('fire-schedules'),
    find: '  while (schedule && isDue(schedule)) schedule = await decide(deps, tx, schedule);\n',
    replace: '',
  },
];
