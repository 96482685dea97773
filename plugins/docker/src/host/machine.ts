import { FatalError, type NodeScope } from '@baton/plugin-sdk';
import { connect, type SshConnection } from '@baton/plugin-sdk/ssh';
import * as z from 'zod';

export const DOCKER_MACHINE = z.object({
  docker_ip: z.string().default('').describe('Address of the machine'),
  docker_user: z.string().default('').describe('User there'),
  docker_key: z.string().default('').describe('Private key of the user'),
  container_volume: z.string().default('').describe('Folder of the container that the files are mapped to'),
  docker_port: z.int().min(1).max(65_535).optional().describe('Port of SSH; default: 22'),
  sudo_password: z.string().optional().describe('For machines where sudo asks for one'),
  known_hosts: z
    .array(z.string())
    .optional()
    .describe('Fingerprints of the key of the machine; none: any is accepted'),
});

export type Machine = z.output<typeof DOCKER_MACHINE>;

type Scope = Pick<
  NodeScope<z.ZodObject<Record<never, never>>, z.ZodObject<Record<never, never>>>,
  'hide' | 'signal' | 'log'
>;

/** Connects to the machine, and closes the connection after `work`. @throws FatalError without an address, as `connect` */
export async function atMachine<T>(
  { hide, signal, log }: Scope,
  machine: Machine | null | undefined,
  work: (connection: SshConnection) => Promise<T>,
): Promise<T> {
  if (!machine?.docker_ip || !machine.docker_user || !machine.docker_key)
    throw new FatalError('docker_machine: expected docker_ip, docker_user and docker_key');
  hide([machine.docker_key, machine.sudo_password]);
  const connection = await connect({
    host: machine.docker_ip,
    port: machine.docker_port,
    user: machine.docker_user,
    key: machine.docker_key,
    knownHosts: machine.known_hosts ?? 'accept',
    signal,
    log,
  });
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}
