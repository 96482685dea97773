import { statusRoutes } from '@baton/contracts/http/status';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  booleanOf,
  type HttpCall,
  listEnvelope,
  pickFields,
} from '@baton/http';
import { notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { productVersion } from '@baton/service-runtime';
import { clusterGroups, clusterStatusOf, managerStatusOf, serviceStatuses } from '../domain/health';
import type { OsRelease } from '../domain/os-release';
import { deleteManager, type ManagerRow, readInstances, readManagers } from '../store/instances.sql';
import type { DB } from '../store/tables.gen';
import type { Edition } from './edition';

const REPORT_FREQUENCY_S = 5;

export interface StatusDeps {
  db: Db<DB>;
  os: OsRelease;
  edition: Edition;
  publicIp: string | undefined;
  build: { commit: string | null; date: string | null };
}

/** Routes of version, status and cluster nodes (spec v3.1 part 1 "Cluster", part 2 "Manager"). */
export function statusHttp(deps: StatusDeps): BoundRoute[] {
  const isSummary = (call: HttpCall) =>
    call.query.summary !== undefined && booleanOf('summary', call.query.summary);
  const present = (row: ManagerRow) => presentManager(row, deps);
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
      const isOk = managerStatusOf(serviceStatuses(await readInstances(deps.db.query))) === 'OK';
      return isOk ? 'OK' : answer({ status: 500, body: 'FAIL' });
    },
    async getStatus(call) {
      const services = serviceStatuses(await readInstances(deps.db.query));
      if (call.version === 'v2.1')
        return { status: 'running', services: Object.values(services).map(legacyService) };
      return { status: managerStatusOf(services), services: isSummary(call) ? {} : services };
    },
    async getClusterStatus(call) {
      const [instances, managers] = await Promise.all([
        readInstances(deps.db.query),
        readManagers(deps.db.query),
      ]);
      const hosts = managers.map((row) => ({ ...row, publicIp: deps.publicIp ?? row.address }));
      const groups = clusterGroups(instances, hosts);
      const status = clusterStatusOf(groups);
      if (!isSummary(call)) return { status, services: groups };
      return answer({ status: status === 'Fail' ? 500 : 200, body: { status, services: {} } });
    },
    async listManagers(call) {
      const wanted = call.list.filters.hostname;
      const rows = (await readManagers(deps.db.query)).filter(
        (row) => !wanted || wanted.includes(row.hostname),
      );
      const items = rows.slice(call.list.offset, call.list.offset + call.list.size).map(present);
      return listEnvelope(
        {
          items: call.list.include ? items.map((item) => pickFields(item, call.list.include!)) : items,
          total: rows.length,
        },
        call.list,
      );
    },
    async getManager(call) {
      const row = (await readManagers(deps.db.query)).find((one) => one.hostname === call.params.hostname);
      if (!row) throw notFound('Manager', call.params.hostname!);
      return present(row);
    },
    async deleteManager(call) {
      const isDeleted = await deps.db.tx((tx) => deleteManager(tx, call.params.hostname!));
      if (!isDeleted) throw notFound('Manager', call.params.hostname!);
    },
  });
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
    public_ip: publicIp ?? row.address,
    version: row.version,
    edition,
    distribution: row.distribution,
    distro_release: row.distro_release,
    fs_sync_node_id: null,
    networks: { default: row.address },
    ca_cert_content: null,
    last_seen: row.last_seen,
    status_report_frequency: REPORT_FREQUENCY_S,
  };
}
