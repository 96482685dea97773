import { FatalError } from '@baton/plugin-sdk';
import { bindsOf, environmentOf, exposedPorts, listOf, portBindings, sizeOf } from './arg-values';
import { nearest } from './nearest';
import { splitWords } from './split-words';

type Args = Readonly<Record<string, unknown>>;

/** What `POST /containers/create` takes, and what stays with us. */
export interface ContainerSettings {
  name: string | undefined;
  isDetached: boolean;
  isTerminal: boolean;
  body: Record<string, unknown>;
}

type Write = (
  value: unknown,
  to: { config: Record<string, unknown>; host: Record<string, unknown> },
  args: Args,
) => void;

const config =
  (name: string, read: (value: unknown) => unknown = same): Write =>
  (value, to) => {
    to.config[name] = read(value);
  };
const host =
  (name: string, read: (value: unknown) => unknown = same): Write =>
  (value, to) => {
    to.host[name] = read(value);
  };
const same = (value: unknown): unknown => value;
const words = (value: unknown): unknown => (typeof value === 'string' ? splitWords(value) : value);
const list = (value: unknown): unknown => listOf(value);
const nothing: Write = () => undefined;

/** Names of arguments of the Docker SDK for Python, and where their values go. */
const ARGUMENTS: Readonly<Record<string, Write>> = {
  command: config('Cmd', words),
  entrypoint: config('Entrypoint', words),
  environment: config('Env', environmentOf),
  hostname: config('Hostname'),
  domainname: config('Domainname'),
  user: config('User', String),
  working_dir: config('WorkingDir'),
  labels: config('Labels', (value) =>
    Array.isArray(value) ? Object.fromEntries(value.map((one) => [one, ''])) : value,
  ),
  tty: config('Tty'),
  stdin_open: config('OpenStdin'),
  stop_signal: config('StopSignal'),
  healthcheck: config('Healthcheck'),
  mac_address: config('MacAddress'),
  ports: (value, to) => {
    to.config.ExposedPorts = exposedPorts(value);
    to.host.PortBindings = portBindings(value);
  },
  volumes: (value, to, args) => {
    const binds = bindsOf(value, args.volumes_mapping);
    to.host.Binds = [...listOf(to.host.Binds), ...binds.binds];
    if (Object.keys(binds.volumes).length > 0) to.config.Volumes = binds.volumes;
  },
  volumes_mapping: nothing,
  binds: (value, to) => {
    to.host.Binds = [...listOf(to.host.Binds), ...bindsOf(value, undefined).binds];
  },
  port_bindings: host('PortBindings', portBindings),
  network: host('NetworkMode'),
  network_mode: host('NetworkMode'),
  privileged: host('Privileged'),
  restart_policy: host('RestartPolicy'),
  cap_add: host('CapAdd', list),
  cap_drop: host('CapDrop', list),
  devices: host('Devices', (value) =>
    listOf(value).map((one) => {
      const [from, to = from, rights = 'rwm'] = String(one).split(':');
      return { PathOnHost: from, PathInContainer: to, CgroupPermissions: rights };
    }),
  ),
  dns: host('Dns', list),
  dns_search: host('DnsSearch', list),
  extra_hosts: host('ExtraHosts', (value) =>
    Array.isArray(value)
      ? value
      : Object.entries(value as object).map(([name, address]) => `${name}:${address}`),
  ),
  group_add: host('GroupAdd', (value) => listOf(value).map(String)),
  links: host('Links', (value) =>
    Array.isArray(value) ? value : Object.entries(value as object).map(([name, alias]) => `${name}:${alias}`),
  ),
  mem_limit: host('Memory', sizeOf),
  mem_reservation: host('MemoryReservation', sizeOf),
  memswap_limit: host('MemorySwap', sizeOf),
  shm_size: host('ShmSize', sizeOf),
  cpu_shares: host('CpuShares'),
  cpu_period: host('CpuPeriod'),
  cpu_quota: host('CpuQuota'),
  cpuset_cpus: host('CpusetCpus'),
  nano_cpus: host('NanoCpus'),
  pids_limit: host('PidsLimit'),
  pid_mode: host('PidMode'),
  ipc_mode: host('IpcMode'),
  uts_mode: host('UTSMode'),
  userns_mode: host('UsernsMode'),
  read_only: host('ReadonlyRootfs'),
  security_opt: host('SecurityOpt', list),
  sysctls: host('Sysctls'),
  tmpfs: host('Tmpfs'),
  ulimits: host('Ulimits'),
  log_config: host('LogConfig'),
  init: host('Init'),
  volumes_from: host('VolumesFrom', list),
  name: nothing,
  detach: nothing,
  host_config: nothing,
};

/**
 * Reads `container_args`: the arguments that the original passed on to the Docker SDK for Python; `host_config` counts as if its
 * members stood beside it.
 * @throws FatalError for a name that is not known, with the nearest one
 */
export function readContainerArgs(image: string, given: Args): ContainerSettings {
  const { host_config: inner } = given;
  if (inner !== undefined && inner !== null && (typeof inner !== 'object' || Array.isArray(inner)))
    throw new FatalError('container_args.host_config: expected a dictionary');
  const args: Args = { ...given, ...(inner as object | undefined) };
  const to = { config: { Image: image } as Record<string, unknown>, host: {} as Record<string, unknown> };
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined) continue;
    const write = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name] : undefined;
    if (write === undefined)
      throw new FatalError(
        `container_args.${name}: there is no such argument${nearest(name, Object.keys(ARGUMENTS))}`,
      );
    write(value, to, args);
  }
  return {
    name: typeof args.name === 'string' && args.name !== '' ? args.name : undefined,
    isDetached: args.detach === true,
    isTerminal: args.tty === true,
    body: { ...to.config, HostConfig: to.host },
  };
}
