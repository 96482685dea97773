import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';

const TLS = z.object({
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  verify: z.boolean().optional(),
});

const SSH = z.object({
  user: z.string().min(1),
  key: z.string().optional(),
  password: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  known_hosts: z.array(z.string()).optional(),
});

export const CLIENT_CONFIG = z.object({
  docker_host: z.string().default('').describe('Address of the machine with the engine'),
  docker_rest_port: z.any().default('').describe('Port of the engine there'),
  docker_sock_file: z
    .string()
    .default('')
    .describe('Socket of the engine on this worker, or on the machine of ssh'),
  tls: TLS.optional().describe('Certificates as PEM, for an engine behind TLS'),
  ssh: SSH.optional().describe('Login at docker_host; the engine is reached through its socket there'),
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
    return { kind: 'ssh', host, path: socketPath(socket || SOCKET), login: ssh };
  }
  if (host !== '' && port !== '') {
    const number = Number(port);
    if (!Number.isInteger(number) || number < 1 || number > 65_535)
      throw new FatalError('client_config.docker_rest_port: expected a port from 1 to 65535');
    return { kind: 'tcp', host, port: number, tls };
  }
  if (socket !== '') return { kind: 'socket', path: socketPath(socket) };
  throw new FatalError(
    'client_config: expected docker_host and docker_rest_port, docker_host and ssh, or docker_sock_file',
  );
}

/** The original put its own slash before the path. */
const socketPath = (path: string): string => `/${path.replace(/^(unix:)?\/+/, '')}`;
