import { doctorRpc, type ServiceName } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** The doctor's call to another service, which examines its own tables. */
export interface DoctorPart {
  service: ServiceName;
  examine(isRepairing: boolean): Promise<doctorRpc.Finding[]>;
}

const ASKED: readonly ServiceName[] = ['deployments', 'catalog', 'cluster-status', 'identity'];
/** Counting the rows of large tables takes a while. */
const DEADLINE_MS = 30_000;

export function createDoctorParts(rpc: RpcConnector): DoctorPart[] {
  return ASKED.map((service) => {
    const client = rpc.client(doctorRpc.DoctorPartServiceDefinition, service);
    const examine = async (isRepairing: boolean) =>
      (await client.examine({ isRepairing }, { deadlineMs: DEADLINE_MS })).findings;
    return { service, examine };
  });
}
