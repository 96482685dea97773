import type { Db } from '@baton/postgres';
import { purgeGroupRequests } from '../store/deployment-groups.sql';
import { sweepDocuments } from '../store/documents.sql';
import { purgeSettledExecutions } from '../store/settled-executions.sql';
import type { DB } from '../store/tables.gen';

/** Deletes old data that is no longer needed, in bounded batches; any number of replicas may do it. */

const GROUP_REQUESTS = 500;
const SETTLED = 5_000;
const DOCUMENTS = 500;

/** Deletes idempotency keys of requests on groups that are older than `keepMs`; at most 500. */
export const forgetGroupRequests = (db: Db<DB>, keepMs: number) =>
  db.tx((tx) => purgeGroupRequests(tx, keepMs, GROUP_REQUESTS));

/** Deletes the state sequence numbers of executions that ended more than `keepMs` ago; at most 5,000. */
export const forgetSettledExecutions = (db: Db<DB>, keepMs: number) =>
  db.tx((tx) => purgeSettledExecutions(tx, keepMs, SETTLED));

/** Removes shared parts of plans that nothing has used for `keepMs`; at most 500. */
export const forgetDocuments = (db: Db<DB>, keepMs: number) => sweepDocuments(db, keepMs, DOCUMENTS);
