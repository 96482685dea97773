import { workerVariables } from '@baton/worker';

/**
 * What a worker of this process has no use for: calls and messages go through its parent, and the channel to it is what it joins
 * by; what does not, goes by a socket that its parent opened, without TLS.
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
