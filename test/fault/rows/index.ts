import type { Random } from '../../sim/random';
import { matrixRow, type Row } from '../row';
import { agentRows } from './agents';
import { backgroundRows } from './background';
import { brokerRows } from './broker';
import { canaryRows } from './canary';
import { cancelRows } from './cancels';
import { clockRows } from './clocks';
import { crashPolicyRows } from './crash-policy';
import { databaseRows } from './database';
import { fileRows } from './files';
import { groupRows } from './groups';
import { nestedRows } from './nested';
import { pluginsUpdateRows } from './plugins-updates';
import { repeatingRows } from './repeating';
import { resourceRows } from './resources';
import { scheduleRows } from './schedules';
import { serviceRows } from './services';
import { snapshotRows } from './snapshots';
import { soakRows } from './soak';
import { starvedRows } from './starved';
import { tenantRows } from './tenants';
import { webhookRows } from './webhooks';
import { workerRows } from './workers';

/** All rows in the order of the matrix. */
export const allRows: readonly Row[] = [
  ...serviceRows,
  ...groupRows,
  ...backgroundRows,
  ...pluginsUpdateRows,
  ...tenantRows,
  ...workerRows,
  ...crashPolicyRows,
  ...resourceRows,
  ...scheduleRows,
  ...repeatingRows,
  ...databaseRows,
  ...starvedRows,
  ...brokerRows,
  ...agentRows,
  ...clockRows,
  ...cancelRows,
  ...nestedRows,
  ...fileRows,
  ...snapshotRows,
  ...canaryRows,
  ...webhookRows,
  ...soakRows,
].sort((a, b) => numberOf(a) - numberOf(b));

function numberOf(row: Row): number {
  return Number(matrixRow(row).slice(1));
}

/** Rows of a run without `--rows`. Rows with hosts of agents take minutes each and want the machine for themselves. */
export const usualRows: readonly Row[] = allRows.filter(
  (row) => row.isOnDemand !== true && row.hosts === undefined,
);

/** Rows that `npm test` always runs: the engine killed during a POST, a worker killed with its operations. */
const ALWAYS = ['F1e', 'F3'];
const RANDOM_ROWS = 3;

/** Returns the fixed rows and three random others. */
export function rowsOfSuite(random: Random): Row[] {
  const others = usualRows.filter((row) => !ALWAYS.includes(row.id));
  const taken = new Set<Row>();
  while (taken.size < RANDOM_ROWS) taken.add(random.pick(others));
  return allRows.filter((row) => ALWAYS.includes(row.id) || taken.has(row));
}

/** Selects rows by id, or all rows of a matrix number: `F1` is F1, F1e, F1m and F1d; `F1=` only F1. */
export function rowsWanted(ids: readonly string[]): { rows: Row[]; unknown: string[] } {
  const isWanted = (row: Row, id: string): boolean =>
    id.endsWith('=') ? row.id === id.slice(0, -1) : row.id === id || matrixRow(row) === id;
  return {
    rows: allRows.filter((row) => ids.some((id) => isWanted(row, id))),
    unknown: ids.filter((id) => !allRows.some((row) => isWanted(row, id))),
  };
}
