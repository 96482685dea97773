import { workerRoutes } from '@baton/contracts/http/workers';
import { type BoundRoute, bindRoutes } from '@baton/http';
import { notFound } from '@baton/kernel';
import type { Ports } from '../../ports';
import { revokeWorker } from '../commands/revoke-worker';
import { listWorkers } from '../queries/list-workers';
import type { WorkerRegistry } from '../worker-registry';

/** Routes about workers for operators: list the registered workers, revoke the credential of one. */
export function workersHttp(deps: Pick<Ports, 'db'>, registry: WorkerRegistry): BoundRoute[] {
  return bindRoutes(workerRoutes, {
    listWorkers: async () => ({ items: await listWorkers(deps.db.query) }),
    revokeWorker: async ({ params }) => {
      const id = params.worker_id!;
      if (!(await revokeWorker({ ...deps, registry }, id))) throw notFound('Worker', id);
      const [worker] = await listWorkers(deps.db.query, id);
      return worker!;
    },
  });
}
