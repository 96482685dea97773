import { AppError } from '@baton/kernel';
import type { BlueprintHead } from '../store/blueprints.sql';
import { hasFailed } from './upload.machine';

/**
 * Whether a new blueprint may take its id: a failed one of the same tenant gives way (answered, to be removed).
 * @throws AppError conflict_error when a living or a global one has the id.
 */
export function judgeRivals(
  rivals: readonly BlueprintHead[],
  tenant: string,
  id: string,
): BlueprintHead | null {
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
