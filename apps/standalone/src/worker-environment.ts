import { workerVariables } from '@baton/worker';

/**
 * Variables that a worker of this process does not need: calls and messages go through its parent, and the channel to the parent
 * replaces the join token. Streams use a socket that the parent opened, without TLS.
 */
const NOT_FOR_CHILDREN = [
  'BATON_BROKER',
  'AMQP_URL',
  'BATON_WORKER_JOIN_TOKEN',
  'BATON_TLS',
  'BATON_TLS_CA_FILE',
  'BATON_TLS_CERT_FILE',
  'BATON_TLS_KEY_FILE',
  'BATON_SERVERS_CA_FILE',
];

/** The variables that a worker process of the standalone starts with. */
export const workerEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  workerVariables(env, NOT_FOR_CHILDREN);
