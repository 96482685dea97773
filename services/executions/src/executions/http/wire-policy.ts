import type { ApiVersion } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { badParameter } from '@baton/kernel';
import { type RefusalTexts, specTexts } from '../domain/refusal-texts';

/** Differences between the wires for executions. */
export interface ExecutionsWire {
  /** Converts an execution, or some of its fields, from the form of v3.1 to the form of this version of the API. */
  present(version: ApiVersion, item: Record<string, unknown>): Record<string, unknown>;
  /** Whether a read by id also returns an upload that the catalog has in work, and waits for a record on its way. */
  showsUploads: boolean;
  /** Whether an answer has the time of the cancel request. */
  showsCancelRequests: boolean;
  /** Whether an upload that has ended leaves an execution. */
  recordsUploads: boolean;
  /** Whether a start at a later time makes a schedule. Otherwise it makes an execution that waits. */
  makesSchedules: boolean;
  /** Whether a start that is refused because its workflow is not available leaves a failed execution. */
  keepsRefusedStarts: boolean;
  /** Whether a resumed execution may run beside another one of its deployment. */
  resumesBesideOthers: boolean;
  /** Returns the seconds of a start whose value is no number. @throws AppError bad_parameters_error */
  waitAfterFail(given: unknown, defaultS: number): number;
  /** Content type that a delete by conditions must have; null: any. */
  deleteType: RegExp | null;
  /** Items of the answer to a delete by conditions. */
  deletedItems<Row>(rows: readonly Row[], present: (row: Row) => object): object[];
  texts: RefusalTexts;
  /** Whether the events of a deployment are always deleted with it. Otherwise only when the caller has asked for that. */
  dropsEventsWithDeployment: boolean;
}

/** The wire of the specification: v2.1 has few fields and naive times (spec v2.1 "Execution"). */
export const specExecutions: ExecutionsWire = {
  present: (version, item) => (version === 'v2.1' ? legacyExecution(item) : item),
  showsUploads: false,
  showsCancelRequests: true,
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
  texts: specTexts,
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
