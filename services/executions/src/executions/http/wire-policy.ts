import type { ApiVersion } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { badParameter } from '@baton/kernel';

/** What differs between the wires for executions. */
export interface ExecutionsWire {
  /** An execution, whole or some of its fields in the form of v3.1, as this version of the API shows it. */
  present(version: ApiVersion, item: Record<string, unknown>): Record<string, unknown>;
  /** Whether a read by id also answers an upload that the catalog has in work, and waits for a record on its way. */
  showsUploads: boolean;
  /** Whether an upload that has ended leaves an execution. */
  recordsUploads: boolean;
  /** Whether a start at a later time makes a schedule. Otherwise it makes an execution that waits. */
  makesSchedules: boolean;
  /** Whether a start that is refused for want of availability leaves a failed execution. */
  keepsRefusedStarts: boolean;
  /** Whether a resumed execution may run beside another one of its deployment. */
  resumesBesideOthers: boolean;
  /** Seconds that a start asks for in a form that is no number. @throws AppError bad_parameters_error */
  waitAfterFail(given: unknown, defaultS: number): number;
  /** Content type that a delete by conditions must have; null: any. */
  deleteType: RegExp | null;
  /** Items of the answer to a delete by conditions. */
  deletedItems<Row>(rows: readonly Row[], present: (row: Row) => object): object[];
  /** Whether the events of a deployment always go with it. Otherwise they go when the caller asked for that. */
  dropsEventsWithDeployment: boolean;
}

/** The wire of the specification: v2.1 has few fields and naive times (spec v2.1 "Execution"). */
export const specExecutions: ExecutionsWire = {
  present: (version, item) => (version === 'v2.1' ? legacyExecution(item) : item),
  showsUploads: false,
  recordsUploads: false,
  makesSchedules: false,
  keepsRefusedStarts: false,
  resumesBesideOthers: false,
  waitAfterFail(given, defaultS) {
    if (given === undefined || given === null) return defaultS;
    throw badParameter('wait_after_fail', 'wait_after_fail must be a number of seconds', {
      expected: 'integer',
    });
  },
  deleteType: null,
  deletedItems: (rows, present) => rows.map(present),
  dropsEventsWithDeployment: false,
};

function legacyExecution(item: Record<string, unknown>): Record<string, unknown> {
  const known = legacyFields.execution.filter((field) => field in item);
  return Object.fromEntries(
    known.map((field) => [
      field,
      field === 'created_at' ? naiveTime(item.created_at as string) : item[field],
    ]),
  );
}

/** `YYYY-MM-DD hh:mm:ss.ffffff` without a zone, as v2.1 writes times. */
function naiveTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}000`;
}
