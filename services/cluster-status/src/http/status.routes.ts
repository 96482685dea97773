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
import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { productVersion } from '@baton/service-runtime';
import { clusterGroups, clusterStatusOf, managerStatusOf, serviceStatuses } from '../domain/health';
import type { OsRelease } from '../domain/os-release';
import { readInstances } from '../store/instances.sql';
import {
  deleteManager,
  insertManager,
  type ManagerRow,
  readManagers,
  setSyncNode,
} from '../store/managers.sql';
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
      const isOk =
        managerStatusOf(serviceStatuses(await readInstances(deps.db.query), deps.hasRabbit)) === 'OK';
      return isOk ? 'OK' : answer({ status: 500, body: 'FAIL' });
    },
    async getStatus(call) {
      const services = serviceStatuses(await readInstances(deps.db.query), deps.hasRabbit);
      if (wire.hasLegacyStatus(call.version))
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
    ...managerHandlers(deps),
  });
}

type ManagerRoute = 'listManagers' | 'getManager' | 'addManager' | 'updateManager' | 'deleteManager';

function managerHandlers(deps: StatusDeps): Pick<HandlersOf<typeof statusRoutes>, ManagerRoute> {
  const present = (row: ManagerRow) => presentManager(row, deps);
  return {
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
    getManager: async (call) => present(await managerNamed(deps.db, call.params.hostname!)),
    async addManager(call) {
      const isNew = await deps.db.tx((tx) => insertManager(tx, call.body));
      if (!isNew)
        throw new AppError('conflict_error', `A manager with the hostname \`${call.body.hostname}\` exists`);
      return present(await managerNamed(deps.db, call.body.hostname));
    },
    async updateManager(call) {
      const hostname = call.params.hostname!;
      const isKnown = await deps.db.tx((tx) => setSyncNode(tx, hostname, call.body.fs_sync_node_id));
      if (!isKnown) throw notFound('Manager', hostname);
      return present(await managerNamed(deps.db, hostname));
    },
    async deleteManager(call) {
      const isDeleted = await deps.db.tx((tx) => deleteManager(tx, call.params.hostname!));
      if (!isDeleted) throw notFound('Manager', call.params.hostname!);
    },
  };
}

/** @throws AppError not_found_error */
async function managerNamed(db: Db<DB>, hostname: string): Promise<ManagerRow> {
  const row = (await readManagers(db.query)).find((one) => one.hostname === hostname);
  if (!row) throw notFound('Manager', hostname);
  return row;
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
