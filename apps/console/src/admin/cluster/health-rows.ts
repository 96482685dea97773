/** Services of the manager as rows, with the status that each process reports. */

/** Translates a status of the API into a status of the console. */
export function healthOf(status: string): 'well' | 'degraded' | 'failing' {
  if (status === 'OK' || status === 'Active' || status === 'up') return 'well';
  return status === 'Degraded' ? 'degraded' : 'failing';
}

export interface ServiceRow {
  name: string;
  health: ReturnType<typeof healthOf>;
  processes: { id: string; isUp: boolean }[];
  problem: string | null;
  isolation: string | null;
}

interface Service {
  status: string;
  extra_info: Record<string, unknown>;
}

interface Process {
  Id?: string;
  state?: string;
  problem?: string;
  isolation?: string;
}

/** Rows of `/status`, failing services first. An answer in the older format (an array) has no rows. */
export function serviceRows(services: Readonly<Record<string, Service>> | readonly object[]): ServiceRow[] {
  if (Array.isArray(services)) return [];
  return Object.entries(services as Readonly<Record<string, Service>>)
    .map(([name, { status, extra_info: info }]) => {
      const processes = (info.systemd as { instances?: Process[] } | undefined)?.instances ?? [];
      return {
        name,
        health: healthOf(status),
        processes: processes.map(({ Id = '', state }) => ({ id: Id, isUp: state === 'up' })),
        problem: problemOf(info, processes),
        isolation: processes.find(({ isolation }) => isolation)?.isolation ?? null,
      };
    })
    .sort(
      (a, b) =>
        Number(a.health === 'well') - Number(b.health === 'well') || a.name.localeCompare(b.name, 'en'),
    );
}

function problemOf(info: Record<string, unknown>, processes: Process[]): string | null {
  const check = info.connection_check;
  const said = info.problem ?? processes.find(({ problem }) => problem)?.problem;
  if (typeof said === 'string') return said;
  return typeof check === 'string' && check !== 'OK' ? check : null;
}

export interface NodeRow {
  hostname: string;
  health: ReturnType<typeof healthOf> | null;
  address: string;
  version: string;
  lastSeen: string | null;
  failures: string[];
}

interface Manager {
  hostname?: string;
  private_ip?: string;
  public_ip?: string;
  version?: string;
  last_seen?: string;
}

/** Nodes of the cluster, each with its entry from the cluster status. */
export function nodeRows(
  managers: readonly Manager[],
  statuses: Readonly<Record<string, Record<string, unknown>>>,
): NodeRow[] {
  return managers.map(({ hostname = '', private_ip = '', public_ip, version = '', last_seen }) => {
    const { status, failures } = statuses[hostname] ?? {};
    return {
      hostname,
      health: typeof status === 'string' ? healthOf(status) : null,
      address: public_ip && public_ip !== private_ip ? `${private_ip}, ${public_ip}` : private_ip,
      version,
      lastSeen: last_seen ?? null,
      failures: Array.isArray(failures) ? failures.map(String) : [],
    };
  });
}
