import type { ServiceName } from '@baton/contracts';

/** A process as in its last report. Instants are ISO texts. */
export interface Instance {
  service: ServiceName;
  instance_id: string;
  hostname: string;
  version: string;
  pid: number;
  started_at: string;
  checks: Record<string, { ok: boolean; detail?: string }>;
  is_alive: boolean;
}

export type NodeStatus = 'OK' | 'Fail';
export type GroupStatus = 'OK' | 'Degraded' | 'Fail';

/** Display names of the services, as users know them. */
const DISPLAY: Record<ServiceName, string> = {
  gateway: 'Webserver',
  identity: 'Identity Service',
  catalog: 'Blueprint Catalog',
  deployments: 'Manager Rest-Service',
  executions: 'Execution Engine',
  secrets: 'Secret Store',
  'cluster-status': 'Status Service',
  worker: 'Management Worker',
};
const SERVICES = Object.keys(DISPLAY) as ServiceName[];

const BROKER_CHECK = 'broker';
const DATABASE_CHECK = 'database';
/** Check that a standalone manager reports about the worker processes that it starts. */
const WORKERS_CHECK = 'workers';

export interface ServiceStatus {
  status: 'Active' | 'Inactive';
  is_remote: boolean;
  extra_info: Record<string, unknown>;
}

/** Check that a worker reports: how it isolates operations, in words. */
const ISOLATION_CHECK = 'isolation';

/** Checks about servers, which are shown as rows of their own. */
const SERVER_CHECKS = new Set([BROKER_CHECK, DATABASE_CHECK, 'database_server', 'cache', WORKERS_CHECK]);

/** Returns the reason, by its own report, why a living process does not work although the servers are there; null when it works. */
function ownProblem(instance: Instance): string | null {
  const failing = Object.entries(instance.checks).find(([name, { ok }]) => !ok && !SERVER_CHECKS.has(name));
  return failing ? (failing[1].detail ?? `${failing[0]} fails`) : null;
}

const works = (instance: Instance): boolean => instance.is_alive && ownProblem(instance) === null;

const isWell = (instance: Instance): boolean =>
  instance.is_alive && Object.values(instance.checks).every((check) => check.ok);

/**
 * Returns every service with its instances, and the database and broker as the services see them (reference/rest-api.md 8.6).
 * `hasRabbit` false: the database serves as the broker, so the broker has no row.
 */
export function serviceStatuses(
  instances: readonly Instance[],
  hasRabbit: boolean,
): Record<string, ServiceStatus> {
  const shown: Record<string, ServiceStatus> = {};
  for (const service of SERVICES) {
    const mine = instances.filter((instance) => instance.service === service);
    shown[DISPLAY[service]] = {
      status: mine.some(works) ? 'Active' : 'Inactive',
      is_remote: false,
      extra_info: systemd(`baton-${service}`, DISPLAY[service], mine),
    };
  }
  const failing = instances.find(({ is_alive, checks }) => is_alive && checks[WORKERS_CHECK]?.ok === false);
  if (failing) shown[DISPLAY.worker]!.extra_info.problem = failing.checks[WORKERS_CHECK]!.detail;
  shown.PostgreSQL = dependency(instances, DATABASE_CHECK, 'PostgreSQL', 'postgresql');
  if (!hasRabbit) return shown;
  const broker = dependency(instances, BROKER_CHECK, 'RabbitMQ', 'rabbitmq');
  const problem = problemOf(instances, BROKER_CHECK);
  shown.RabbitMQ = { ...broker, extra_info: { ...broker.extra_info, connection_check: problem ?? 'OK' } };
  return shown;
}

function systemd(unit: string, displayName: string, instances: readonly Instance[]): Record<string, unknown> {
  return {
    systemd: {
      display_name: displayName,
      unit_id: unit,
      instances: instances.map((instance) => ({
        Id: instance.instance_id,
        Description: displayName,
        state: works(instance) ? 'up' : 'down',
        LoadState: 'loaded',
        MainPID: instance.pid,
        ...(instance.is_alive
          ? { ActiveState: works(instance) ? 'active' : 'failed', SubState: 'running' }
          : { ActiveState: 'inactive', SubState: 'dead' }),
        ...(instance.is_alive && !works(instance) ? { problem: ownProblem(instance) } : {}),
        ...(instance.checks[ISOLATION_CHECK] ? { isolation: instance.checks[ISOLATION_CHECK].detail } : {}),
      })),
    },
  };
}

/**
 * Returns the first problem that a living instance reports for `check`; null when all instances that report `check` report
 * success.
 */
function problemOf(instances: readonly Instance[], check: string): string | null {
  const looking = instances.filter((instance) => instance.is_alive && instance.checks[check]);
  if (looking.length === 0) return 'nobody reports on it';
  const failing = looking.find((instance) => !instance.checks[check]!.ok);
  return failing ? (failing.checks[check]!.detail ?? 'failed') : null;
}

function dependency(
  instances: readonly Instance[],
  check: string,
  displayName: string,
  unit: string,
): ServiceStatus {
  const isUp = problemOf(instances, check) === null;
  const state = {
    Id: unit,
    Description: displayName,
    state: isUp ? 'up' : 'down',
    LoadState: 'loaded',
    MainPID: 0,
    ActiveState: isUp ? 'active' : 'inactive',
    SubState: isUp ? 'running' : 'dead',
  };
  return {
    status: isUp ? 'Active' : 'Inactive',
    is_remote: true,
    extra_info: { systemd: { display_name: displayName, unit_id: unit, instances: [state] } },
  };
}

/** Returns OK when every service is Active. */
export function managerStatusOf(services: Record<string, ServiceStatus>): NodeStatus {
  return Object.values(services).every((service) => service.status === 'Active') ? 'OK' : 'Fail';
}

export interface ClusterGroup {
  status: GroupStatus;
  is_external: boolean;
  nodes: Record<string, Record<string, unknown>>;
}

/**
 * Returns the groups manager, broker and db (reference/rest-api.md 8.8). A host is OK when everything on it is well. The managers
 * are Degraded while every service still lives on some host, else they fail.
 */
export function clusterGroups(
  instances: readonly Instance[],
  hosts: readonly { hostname: string; address: string; version: string; publicIp: string }[],
): Record<'manager' | 'broker' | 'db', ClusterGroup> {
  const nodes = Object.fromEntries(
    hosts.map((host) => {
      const mine = instances.filter((instance) => instance.hostname === host.hostname);
      const isOk = mine.length > 0 && mine.every(isWell);
      const failures = mine
        .filter((instance) => !isWell(instance))
        .map((instance) => `${instance.service} ${instance.instance_id}`);
      const services = Object.fromEntries(
        Object.entries(serviceStatuses(mine, false)).filter(([name]) =>
          mine.some((instance) => DISPLAY[instance.service] === name),
        ),
      );
      const node = {
        status: isOk ? 'OK' : 'Fail',
        version: host.version,
        public_ip: host.publicIp,
        private_ip: host.address,
        services,
        failures,
      };
      return [host.hostname, node];
    }),
  );
  const isAllOk = Object.values(nodes).every((node) => node.status === 'OK');
  const lives = SERVICES.every((service) =>
    instances.some((instance) => instance.service === service && instance.is_alive),
  );
  const external = (check: string): ClusterGroup => ({
    status: problemOf(instances, check) === null ? 'OK' : 'Fail',
    is_external: true,
    nodes: {},
  });
  return {
    manager: { status: !lives ? 'Fail' : isAllOk ? 'OK' : 'Degraded', is_external: false, nodes },
    broker: external(BROKER_CHECK),
    db: external(DATABASE_CHECK),
  };
}

/** Returns the worst status of the groups. */
export function clusterStatusOf(groups: Record<string, ClusterGroup>): GroupStatus {
  const all = Object.values(groups).map((group) => group.status);
  return all.includes('Fail') ? 'Fail' : all.includes('Degraded') ? 'Degraded' : 'OK';
}
