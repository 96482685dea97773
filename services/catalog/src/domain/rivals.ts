import { AppError } from '@baton/kernel';
import { hasFailed, type UploadState } from './upload.machine';

/** A blueprint that already has the wanted id. */
export interface Rival {
  tenant: string;
  id: string;
  state: UploadState;
}

/**
 * Checks whether a new blueprint may take its id. A failed one of the same tenant is replaced: it is returned and must be removed.
 * @throws AppError conflict_error when a blueprint that has not failed, or a global one, has the id.
 */
export function judgeRivals(rivals: readonly Rival[], tenant: string, id: string): Rival | null {
  const own = rivals.find((r) => r.tenant === tenant);
  if (own !== undefined && !hasFailed(own.state)) {
    throw new AppError(
      'conflict_error',
      `blueprint with id \`${id}\` already exists${own.state === 'uploaded' ? '' : ` (its state is ${own.state})`}`,
      { id },
    );
  }
  if (rivals.some((r) => r.tenant !== tenant)) {
    throw new AppError(
      'conflict_error',
      `blueprint with id \`${id}\` already exists in another tenant, and one of both is global`,
      { id },
    );
  }
  return own ?? null;
}
