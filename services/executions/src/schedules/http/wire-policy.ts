import { type ScheduleReading, specReading } from '../domain/schedule-input';

/** The differences between the wires for execution schedules. */
export interface SchedulesWire extends ScheduleReading {
  /** Returns a schedule in the form of REST (spec v3.1 part 2 "ExecutionSchedule"). Fields that were not selected stay absent. */
  present(row: Record<string, unknown>): Record<string, unknown>;
}

/** The wire of the specification. */
export const specSchedules: SchedulesWire = {
  ...specReading,
  present: (row) => ('parameters' in row ? { ...row, parameters: row.parameters ?? {} } : row),
};
