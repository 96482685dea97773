import { addressOfWorker } from '@baton/contracts';
import { badParameter, isUuid } from '@baton/kernel';

/** Operations that one call of an agent may name: more than any host runs, few enough for one statement. */
const MAX_NAMED = 2_000;

/**
 * Checks the operations that an agent names in the field `field`; lists of workers of the manager are not checked.
 * @throws AppError bad_parameters_error
 */
export function requireNamed(workerId: string, field: string, taskIds: readonly string[]): void {
  if (addressOfWorker(workerId) === null) return;
  if (taskIds.length > MAX_NAMED)
    throw badParameter(
      field,
      `An agent may name at most ${MAX_NAMED} operations at once, not ${taskIds.length}`,
    );
  const wrong = taskIds.find((id) => !isUuid(id));
  if (wrong !== undefined) throw badParameter(field, `${wrong.slice(0, 100)} is no id of an operation`);
}
