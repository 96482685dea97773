/** The methods that agents may call, by the path in their frames. */
import { agentMethods, catalogRpc, deploymentsRpc, executionsRpc, type ServiceName } from '@baton/contracts';
import { AppError, beginningOf, nearestName } from '@baton/kernel';
import type { PassedCall } from '@baton/rpc';

export type AgentMethod = Pick<PassedCall, 'service' | 'definition' | 'method'>;

const definitions = [
  executionsRpc.ExecutionsServiceDefinition,
  deploymentsRpc.DeploymentsServiceDefinition,
  catalogRpc.CatalogServiceDefinition,
] as const;

const methods = new Map<string, AgentMethod>();
for (const [service, ofService] of Object.entries(agentMethods))
  for (const [fullName, names] of Object.entries(ofService)) {
    const definition = definitions.find((one) => one.fullName === fullName)!;
    for (const method of Object.values(definition.methods))
      if ((names as readonly string[]).includes(method.name))
        methods.set(`${service}/${fullName}/${method.name}`, {
          service: service as ServiceName,
          definition,
          method,
        });
  }

/** Returns the method of a path like `executions/baton.executions.v1.ExecutionsService/ClaimTask`. @throws AppError forbidden_error */
export function agentMethodAt(path: string): AgentMethod {
  const found = methods.get(path);
  if (found) return found;
  const near = nearestName(path, methods.keys());
  const asked = beginningOf(path, 200);
  throw new AppError('forbidden_error', `${asked} is not open to agents${near ? `; ${near} is` : ''}`, {
    field: 'path',
    expected: 'a method of agentMethods',
  });
}
