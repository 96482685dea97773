import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

const TLS = z.strictObject({
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  verify: z.boolean().optional(),
});

const SSH = z.strictObject({
  user: z.string().min(1),
  key: z.string().optional(),
  password: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  known_hosts: z.array(z.string()).optional(),
});

/** A dictionary that is there or not. An object would be there always, since blueprints fill in data types. */
const members = () => z.record(z.string(), z.any()).optional();

export const CLIENT_CONFIG = z.object({
  docker_host: z.string().default('').describe('Address of the machine with the engine'),
  docker_rest_port: z.any().default('').describe('Port of the engine there'),
  docker_sock_file: z
    .string()
    .default('')
    .describe('Socket of the engine on this worker, or on the machine of ssh'),
  tls: members().describe('Certificates as PEM, for an engine behind TLS: ca, cert, key, verify'),
  ssh: members().describe(
    'Login at docker_host, whose socket is used: user, key or password, port, known_hosts',
  ),
});

/** Where an engine is. */
export type Place =
  | { kind: 'socket'; path: string }
  | { kind: 'tcp'; host: string; port: number; tls?: z.output<typeof TLS> }
  | { kind: 'ssh'; host: string; path: string; login: z.output<typeof SSH> };

const SOCKET = '/var/run/docker.sock';

/** Reads `client_config`. @throws FatalError when it names no engine */
export function placeOf(config: z.output<typeof CLIENT_CONFIG> | null | undefined): Place {
  const {
    docker_host: host = '',
    docker_rest_port: port = '',
    docker_sock_file: socket = '',
    tls,
    ssh,
  } = config ?? {};
  if (ssh !== undefined) {
    if (host === '') throw new FatalError('client_config.docker_host: the address of the machine is missing');
    return {
      kind: 'ssh',
      host,
      path: socketPath(socket || SOCKET),
      login: checked(SSH, ssh, 'client_config.ssh'),
    };
  }
  if (host !== '' && port !== '') {
    const number = Number(port);
    if (!Number.isInteger(number) || number < 1 || number > 65_535)
      throw new FatalError('client_config.docker_rest_port: expected a port from 1 to 65535');
    return { kind: 'tcp', host, port: number, tls: tls && checked(TLS, tls, 'client_config.tls') };
  }
  if (socket !== '') return { kind: 'socket', path: socketPath(socket) };
  throw new FatalError(
    'client_config: expected docker_host and docker_rest_port, docker_host and ssh, or docker_sock_file',
  );
}

/** @throws FatalError that names each wrong member, without its value */
export function checked<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${[where, ...path.map(String)].join('.')}: ${message}`,
  );
  throw new FatalError(problems.join('; '));
}

/** The original put its own slash before the path. */
const socketPath = (path: string): string => `/${path.replace(/^(unix:)?\/+/, '')}`;
