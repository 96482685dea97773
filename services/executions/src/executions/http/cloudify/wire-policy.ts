import type { ExecutionsWire } from '../wire-policy';
import { originalTexts } from './refusal-texts';

/** The wire of the original (docs/compatibility.md). */
export const cloudifyExecutions: ExecutionsWire = {
  present: (_version, item) => presentOriginal(item),
  showsUploads: true,
  showsCancelRequests: false,
  recordsUploads: true,
  makesSchedules: true,
  keepsRefusedStarts: true,
  resumesBesideOthers: true,
  // The original stores any value without a check: a value that is no number means the default.
  waitAfterFail: (_given, defaultS) => defaultS,
  deleteType: /^application\/json$/i,
  deletedItems: (rows) => [{ count: rows.length }],
  texts: originalTexts,
  dropsEventsWithDeployment: true,
};

/** Shows an execution as the original does: v2.1 has the fields of v3, a retired column, and counts that are never null. */
function presentOriginal(item: Record<string, unknown>): Record<string, unknown> {
  const shown = { ...item };
  for (const count of ['total_operations', 'finished_operations']) if (count in shown) shown[count] ??= 0;
  return 'parameters' in shown ? { ...shown, parameters_p: null } : shown;
}
