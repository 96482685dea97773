import { statusRoutes } from '@baton/contracts/http/status';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  booleanOf,
  type HandlersOf,
  type HttpCall,
  listEnvelope,
  pickFields,
} from '@baton/http';
import type { Db } from '@baton/postgres';
import { productVersion } from '@baton/service-runtime';
import { addManager, changeSyncNode, removeManager } from '../commands/managers';
import { managerStatusOf } from '../domain/health';
import type { OsRelease } from '../domain/os-release';
import { getManager, listManagers } from '../queries/managers';
import { getClusterStatus, getServiceStatuses } from '../queries/status';
import type { ManagerRow } from '../store/managers.sql';
import type { DB } from '../store/tables.gen';
import type { Edition } from './edition';
import type { WirePolicy } from './wire-policy';

const REPORT_FREQUENCY_S = 5;

export interface StatusDeps {
  db: Db<DB>;
  os: OsRelease;
  edition: Edition;
  publicIp: string | undefined;
  /** False: messages go through the database. */
  hasRabbit: boolean;
  build: { commit: string | null; date: string | null };
}

/** Routes of version, status and cluster nodes (spec v3.1 part 1 "Cluster", part 2 "Manager"). */
export function statusHttp(deps: StatusDeps, wire: WirePolicy): BoundRoute[] {
  const isSummary = (call: HttpCall) =>
    call.query.summary !== undefined && booleanOf('summary', call.query.summary);
  return bindRoutes(statusRoutes, {
    getVersion: () => ({
      version: productVersion,
      edition: deps.edition,
      date: deps.build.date,
      commit: deps.build.commit,
      build: null,
      distribution: deps.os.distribution,
      distro_release: deps.os.release,
    }),
    async getOk() {
      const isOk = managerStatusOf(await getServiceStatuses(deps)) === 'OK';
      return isOk ? 'OK' : answer({ status: 500, body: 'FAIL' });
    },
    async getStatus(call) {
      const services = await getServiceStatuses(deps);
      if (wire.hasLegacyStatus(call.version))
        return { status: 'running', services: Object.values(services).map(legacyService) };
      return { status: managerStatusOf(services), services: isSummary(call) ? {} : services };
    },
    async getClusterStatus(call) {
      const { status, groups } = await getClusterStatus(deps);
      if (!isSummary(call)) return { status, services: groups };
      return answer({ status: status === 'Fail' ? 500 : 200, body: { status, services: {} } });
    },
    ...managerHandlers(deps),
  });
}

type ManagerRoute = 'listManagers' | 'getManager' | 'addManager' | 'updateManager' | 'deleteManager';

function managerHandlers(deps: StatusDeps): Pick<HandlersOf<typeof statusRoutes>, ManagerRoute> {
  const present = (row: ManagerRow) => presentManager(row, deps);
  return {
    async listManagers({ list }) {
      const { items: rows, total } = await listManagers(deps, list);
      const items = rows.map(present);
      const { include } = list;
      return listEnvelope(
        { items: include ? items.map((item) => pickFields(item, include)) : items, total },
        list,
      );
    },
    getManager: async (call) => present(await getManager(deps, call.params.hostname!)),
    async addManager(call) {
      await addManager(deps, call.body);
      return present(await getManager(deps, call.body.hostname));
    },
    async updateManager(call) {
      const hostname = call.params.hostname!;
      await changeSyncNode(deps, hostname, call.body.fs_sync_node_id);
      return present(await getManager(deps, hostname));
    },
    async deleteManager(call) {
      await removeManager(deps, call.params.hostname!);
    },
  };
}

function legacyService(service: { extra_info: Record<string, unknown> }) {
  const systemd = service.extra_info.systemd as { display_name: string; instances: unknown[] };
  return { display_name: systemd.display_name, instances: systemd.instances };
}

function presentManager(row: ManagerRow, { edition, publicIp }: StatusDeps) {
  return {
    id: row.id,
    hostname: row.hostname,
    private_ip: row.address,
    public_ip: row.public_ip ?? publicIp ?? row.address,
    version: row.version,
    edition: row.edition ?? edition,
    distribution: row.distribution,
    distro_release: row.distro_release,
    fs_sync_node_id: row.fs_sync_node_id,
    networks: row.networks ?? { default: row.address },
    ca_cert_content: row.ca_cert_content,
    last_seen: row.last_seen,
    status_report_frequency: REPORT_FREQUENCY_S,
  };
}
