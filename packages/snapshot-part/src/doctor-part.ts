import { doctorRpc } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { outsideRequests } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { Pool } from 'pg';

/** One kind of damage in the tables of a service: the query that finds it, and the repair. */
export interface TableCheck {
  name: string;
  /** The effect of the repair, in words for an operator. */
  repair: string;
  /** Query that selects `id` and `about` of damaged rows, without rows whose work may still be under way. */
  find: string;
  /** The repair: a statement with the id as $1, or a function. It checks the damage again, and may be repeated. */
  mend: string | ((id: string) => Promise<unknown>);
}

export interface ExaminedTables {
  db: { pool: Pool };
  log: Log;
  checks: readonly TableCheck[];
}

/** Most findings of one kind at once. */
const MAX_FOUND = 100;
const definition = doctorRpc.DoctorPartServiceDefinition;

/** Serves the doctor's checks of a service's tables: `rpc: [createDoctorPart({ db, log, checks })]`. */
export function createDoctorPart(part: ExaminedTables): {
  definition: typeof definition;
  handlers: RpcHandlers<typeof definition>;
} {
  return {
    definition,
    handlers: {
      examine: async ({ isRepairing }) => ({ findings: await examineTables(part, isRepairing) }),
    },
  };
}

/** Looks for all kinds of damage, in all tenants; a repair that fails is reported with its finding. */
export async function examineTables(
  part: ExaminedTables,
  isRepairing: boolean,
): Promise<doctorRpc.Finding[]> {
  return await outsideRequests(async () => {
    const findings: doctorRpc.Finding[] = [];
    for (const check of part.checks) findings.push(...(await examine(part, check, isRepairing)));
    return findings;
  });
}

async function examine(
  { db, log }: ExaminedTables,
  check: TableCheck,
  isRepairing: boolean,
): Promise<doctorRpc.Finding[]> {
  const { rows } = await db.pool.query<{ id: string; about: string }>(
    `select id::text as id, about from (${check.find}) found order by 1 limit ${MAX_FOUND}`,
  );
  const findings: doctorRpc.Finding[] = [];
  for (const { id, about } of rows) {
    const finding = { check: check.name, id, about, repair: check.repair, isRepaired: false, error: '' };
    findings.push(finding);
    if (!isRepairing) continue;
    try {
      if (typeof check.mend === 'string') await db.pool.query(check.mend, [id]);
      else await check.mend(id);
      finding.isRepaired = true;
      log.warn({ check: check.name, id, about }, 'doctor: repaired');
    } catch (err) {
      finding.error = (err as Error).message;
      log.error({ err, check: check.name, id }, 'doctor: the repair failed');
    }
  }
  return findings;
}

/** No lease is longer: its holder renews it. */
const LONGEST_LEASE = "interval '10 minutes'";

/**
 * Returns the check for leased work that no process would take, because its lease ends later than any process could have requested.
 * `open`: a condition for rows with work left; `key`: an SQL text that identifies a row.
 */
export function heldForEver(of: {
  name: string;
  table: string;
  key: string;
  what: string;
  open: string;
  /** Column with the end of the lease; default `lease_until`. */
  until?: string;
}): TableCheck {
  const { name, table, key, what, open, until = 'lease_until' } = of;
  const isHeld = `${open} and ${until} > app_now() + ${LONGEST_LEASE}`;
  return {
    name,
    repair: 'its lease is over: a replica goes on with it',
    find: `select ${key} as id, '${what} is held until ' || ${until} as about from ${table} where ${isHeld}`,
    mend: `update ${table} set ${until} = app_now() where ${key} = $1 and ${isHeld}`,
  };
}
