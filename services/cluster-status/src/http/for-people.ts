import type { BoundRoute } from '@baton/http';
import { AppError } from '@baton/kernel';

/**
 * Refuses changes by the token of an execution on these routes. Such a change would outlive the token: a webhook goes on telling, a
 * trigger goes on starting, with rights that end with the execution. Handlers throw AppError forbidden_error.
 */
export function changedByPeople(routes: BoundRoute[]): BoundRoute[] {
  return routes.map(({ contract, handler }) => {
    if (contract.method === 'GET' || contract.permission === 'none') return { contract, handler };
    return {
      contract,
      handler: (call) => {
        if (call.principal.executionId === '') return handler(call);
        throw new AppError(
          'forbidden_error',
          'The token of an execution may not do this: the change would outlive the execution',
        );
      },
    };
  });
}
