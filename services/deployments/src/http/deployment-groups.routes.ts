import { deploymentGroupsRoutes } from '@baton/contracts/http/deployment-groups';
import { answer, type BoundRoute, bindRoutes, type HttpCall, listEnvelope } from '@baton/http';
import { changeGroup, replacesMembers } from '../commands/change-group';
import type { DeleteOptions } from '../commands/delete-deployment';
import { deleteGroup } from '../commands/delete-group';
import { refuseNewDeployments } from '../commands/select-members';
import type { ServiceDeps } from '../deps';
import { listDeploymentGroups, readDeploymentGroup } from '../queries/deployment-groups';
import type { WirePolicy } from './wire-policy';

/** Deployment groups (reference/rest-api.md 5.6). */
export function deploymentGroupsHttp(deps: ServiceDeps, wire: WirePolicy): BoundRoute[] {
  const read = (call: Pick<HttpCall, 'principal' | 'params'>) =>
    readDeploymentGroup(deps.db.query, call.principal, call.params.id!);
  return bindRoutes(deploymentGroupsRoutes, {
    async listDeploymentGroups({ principal, list, query }) {
      const withData = wire.listsGroupMembers || (query._get_data ?? false);
      return listEnvelope(await listDeploymentGroups(deps.db.query, principal, list, withData), list);
    },
    getDeploymentGroup: (call) => read(call),
    async putDeploymentGroup(call) {
      const { body } = call;
      await changeGroup(deps, call.principal, {
        id: call.params.id!,
        mayCreate: true,
        properties: body,
        add: body,
        remove: {},
        newDeployments: body.new_deployments ?? [],
        newField: 'new_deployments',
        isReplacing: replacesMembers(body),
        requestId: call.idempotencyKey ?? null,
      });
      return read(call);
    },
    async patchDeploymentGroup(call) {
      const { add, remove, ...properties } = call.body;
      refuseNewDeployments(remove);
      await changeGroup(deps, call.principal, {
        id: call.params.id!,
        mayCreate: false,
        properties,
        add: add ?? {},
        remove: remove ?? {},
        newDeployments: add?.new_deployments ?? [],
        newField: 'add.new_deployments',
        isReplacing: false,
        requestId: call.idempotencyKey ?? null,
      });
      return read(call);
    },
    async deleteDeploymentGroup(call) {
      const executionGroupId = await deleteGroup(deps, call.principal, call.params.id!, memberOptions(call));
      return executionGroupId === null
        ? undefined
        : answer({ status: 200, body: { execution_group_id: executionGroupId } });
    },
  });
}

/** Reads the options of a delete; null when the members are kept. The options may be in the query or in the body. */
function memberOptions({ query, body }: HttpCall): DeleteOptions | null {
  const is = (name: string): boolean => query[name] === true || body?.[name] === true;
  if (!is('delete_deployments')) return null;
  return {
    force: is('force'),
    deleteLogs: is('delete_logs') || is('with_logs'),
    recursive: is('recursive'),
  };
}
