import { createClient } from '@baton/client';
import type { OperationAssignment } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';

/**
 * Reads the value of a secret with the token of the execution, like a script does by the API: permissions, hidden values and the
 * end of the execution count.
 * @throws FatalError when there is none, or its value is hidden from the execution's creator; AppError for other refusals
 */
export type ReadSecret = (
  name: string,
  task: Pick<OperationAssignment, 'tenant' | 'executionToken'>,
  signal: AbortSignal,
) => Promise<string>;

export function createReadSecret(managerUrl: string): ReadSecret {
  return async (name, { tenant, executionToken }, signal) => {
    const client = createClient({ baseUrl: managerUrl, token: executionToken, tenant });
    const found = await client
      .call('getSecret', { params: { secret_key: name }, signal })
      .catch((cause: unknown) => {
        if (isAppError(cause, 'not_found_error'))
          throw new FatalError(`the plugin needs the secret ${name}, which does not exist`, { cause });
        if (isAppError(cause, 'forbidden_error'))
          throw new FatalError(`the execution may not read the secret ${name}: ${cause.message}`, { cause });
        throw cause;
      });
    const { value } = found as { value?: unknown };
    if (value === null || value === undefined)
      throw new FatalError(`the execution may not read the secret ${name}: its value is hidden`);
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
}
