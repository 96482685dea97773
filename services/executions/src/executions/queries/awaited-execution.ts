import { isAdministrator, type Principal } from '@baton/contracts';
import { idTimeMs, isUuid, notFound, nullIfNotFound } from '@baton/kernel';
import { lookUntil } from '@baton/service-runtime';
import type { UnrecordedUpload } from '../../adapters/catalog.client';
import type { Ports } from '../../ports';
import { presentExecution, presentUpload } from '../domain/present-execution';
import { visibleExecution } from './visible-execution';

/** Wait for the record of work that has ended elsewhere: the message about it is on its way. */
const RECORDED = { withinMs: 2_000, everyMs: 25 };
/** An id younger than this may belong to a validation, which leaves nothing but its record. */
const JUST_MADE_MS = 5_000;

/**
 * Returns the presented execution, if the caller may see it. Clients of the original wait for the execution of an upload from the
 * moment when it was accepted: until its end, only the catalog knows it; after its end, its record is a message on its way.
 * @throws AppError not_found_error, also for an execution that the caller may not see.
 */
export async function awaitedExecution(
  deps: Pick<Ports, 'db' | 'catalog'> & { nowMs(): number },
  principal: Principal,
  id: string,
): Promise<Record<string, unknown>> {
  const look = async (): Promise<Record<string, unknown> | null> => {
    const row = await nullIfNotFound(visibleExecution(deps.db.query, principal, id));
    return row && presentExecution(row);
  };
  const found = await look();
  if (found) return found;
  const upload = isUuid(id) ? await deps.catalog.findUpload(principal.tenant, id) : null;
  if (upload && !upload.hasEnded && maySee(principal, upload)) return presentUpload(upload);
  const age = deps.nowMs() - (idTimeMs(id) ?? 0);
  const mayCome = upload?.hasEnded || age < JUST_MADE_MS;
  const recorded = mayCome ? await lookUntil(look, (row) => row !== null, RECORDED) : null;
  if (recorded) return recorded;
  throw notFound('Execution', id);
}

function maySee(principal: Principal, { visibility, createdBy }: UnrecordedUpload): boolean {
  return visibility !== 'private' || createdBy === principal.username || isAdministrator(principal);
}
