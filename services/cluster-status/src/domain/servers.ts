/** Brokers and database nodes in the form of the API (reference/rest-api.md 5.14), made from the configured addresses. */
const DEFAULT_PORTS: Record<string, number> = {
  'amqp:': 5672,
  'amqps:': 5671,
  'postgres:': 5432,
  'postgresql:': 5432,
};
const MASK = '********';

export interface BrokerItem {
  name: string;
  host: string;
  management_host: string | null;
  port: number;
  username: string | null;
  password: string | null;
  params: Record<string, unknown>;
  networks: Record<string, string>;
  is_external: boolean;
  ca_cert_content: string | null;
}

/**
 * Returns the broker at `url`. A user who may see credentials gets the user name. The password is a mask for every user: no
 * client connects to the broker by this answer, workers are configured directly.
 */
export function brokerItem(url: string, maySeeCredentials: boolean): BrokerItem {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isAmqp = protocol.startsWith('amqp');
  return {
    name: hostname,
    host: hostname,
    management_host: isAmqp ? hostname : null,
    port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port),
    username: maySeeCredentials && username !== '' ? decodeURIComponent(username) : null,
    password: maySeeCredentials && password !== '' ? MASK : null,
    params: {},
    networks: { default: hostname },
    is_external: true,
    ca_cert_content: null,
  };
}

/** Returns the hosts of a connection URL; several hosts are separated by commas. */
export function dbNodeItems(url: string): { name: string; host: string; is_external: boolean }[] {
  const authority = /^[a-z]+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? '';
  return authority
    .split(',')
    .map((place) => place.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
    .filter((host) => host !== '')
    .map((host) => ({ name: host, host, is_external: true }));
}
