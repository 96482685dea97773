import type { ServedCall } from '@baton/rpc';
import type { WorkerRegistry } from '../worker-registry';

/** Returns the same handlers, which refuse calls of revoked workers. */
export function forGoodWorkers<Handlers extends object>(
  handlers: Handlers,
  registry: Pick<WorkerRegistry, 'requireGood'>,
): Handlers {
  const guarded = Object.entries(handlers).map(([name, handle]) => [
    name,
    (request: never, call: ServedCall) => {
      registry.requireGood(call.caller);
      return handle(request, call);
    },
  ]);
  return Object.fromEntries(guarded) as Handlers;
}
