/**
 * The definitions of the whole server in one document that RabbitMQ imports: users, their permissions, exchanges, queues and
 * bindings.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Secret } from '@baton/kernel';
import { topology as allMessages, retryStepsMs, type Topology } from '../topology';
import { rabbitNames } from './names';
import { rabbitPermissions } from './permissions';
import { planTopology } from './plan';

/** The user of one service. */
export interface RabbitLogin {
  service: string;
  user: string;
  password: Secret;
}

export interface DefinitionsOptions {
  vhost: string;
  namespace?: string | undefined;
  logins: readonly RabbitLogin[];
  topology?: Topology;
  retryStepsMs?: readonly number[];
}

/**
 * Returns the document for `POST /api/definitions` or `rabbitmqctl import_definitions`; a second import changes only passwords and
 * permissions.
 */
export function rabbitDefinitions(o: DefinitionsOptions): object {
  const { vhost, namespace = 'baton', topology = allMessages } = o;
  const shape = { names: rabbitNames(namespace), stepsMs: o.retryStepsMs ?? retryStepsMs, expiry: {} };
  const { exchanges, queues, bindings } = planTopology(shape, topology);
  const lasting = { vhost, durable: true, auto_delete: false };
  return {
    vhosts: [{ name: vhost }],
    users: o.logins.map(({ user, password }) => ({
      name: user,
      password_hash: passwordHash(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: '',
    })),
    permissions: o.logins.map(({ user, service }) => ({
      user,
      vhost,
      ...rabbitPermissions(namespace, topology, service),
    })),
    exchanges: exchanges.map(({ name, type }) => ({
      name,
      type,
      ...lasting,
      internal: false,
      arguments: {},
    })),
    queues: queues.map((queue) => ({ ...queue, ...lasting })),
    bindings: bindings.map(({ source, destination, routingKey }) => ({
      source,
      vhost,
      destination,
      destination_type: 'queue',
      routing_key: routingKey,
      arguments: {},
    })),
  };
}

/** Returns the password hash as RabbitMQ stores it: four bytes of salt, and the digest of salt and password. */
function passwordHash(password: Secret): string {
  const salt = randomBytes(4);
  const digest = createHash('sha256').update(salt).update(password.expose(), 'utf8').digest();
  return Buffer.concat([salt, digest]).toString('base64');
}
