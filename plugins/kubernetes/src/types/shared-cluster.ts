import { type NodeScope, nodeType, RetryableError, sensitive } from '@baton/plugin-sdk';
import * as z from 'zod';
import { clusterConfigOf } from '../client/cluster-of-node';
import { KubeApi } from '../client/kube-api';
import { dictOf, type KubeObject } from '../client/kube-object';
import { resolveConnection } from '../client/resolve';
import { CLIENT_CONFIG } from '../client/schema';
import { managerOf, OPTIONS } from '../resources/scope';

const PROPERTIES = z.object({
  client_config: CLIENT_CONFIG.optional().describe('How the cluster is reached'),
  options: OPTIONS.prefault({}),
});
const RUNTIME = z.object({
  'k8s-ip': z.string().describe('Address of the API'),
  'k8s-service-account-token': sensitive(z.string()).describe('Token of the service account'),
  'k8s-cacert': z.string().describe('Authority of the server'),
  service_account: z.string().describe('Name of the service account'),
});
type Scope = NodeScope<typeof PROPERTIES, typeof RUNTIME>;

const TRIES = 40;
const PAUSE_MS = 250;
const BACKGROUND = { propagation: 'Background' };

async function open(scope: Scope) {
  const connection = await resolveConnection(
    scope,
    await clusterConfigOf(scope, scope.properties.client_config),
  );
  const name = `baton-${scope.instanceId.toLowerCase().replaceAll('_', '-')}`.slice(0, 63);
  const { namespace } = scope.properties.options;
  const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
  const annotations = { 'kubernetes.io/service-account.name': name };
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { name: `${name}-token`, namespace, annotations },
  };
  // The original makes a cluster-admin of it: here it may do everything in one namespace.
  const binding: KubeObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
  const api = new KubeApi(scope.http, connection, managerOf(scope.instanceId));
  return { api, connection, account, binding, secret };
}

const referenceOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) => ({
  apiVersion,
  kind,
  name,
  namespace,
});

/** The token that the cluster writes into the secret. @throws RetryableError when it comes too late */
async function tokenOf(scope: Scope, api: KubeApi, secret: KubeObject): Promise<string> {
  for (let tries = 0; tries < TRIES && !scope.signal.aborted; tries++) {
    const { token } = dictOf((await api.get(referenceOf(secret)))?.data);
    if (typeof token === 'string') {
      const text = Buffer.from(token, 'base64').toString('utf8');
      scope.hide(text);
      return text;
    }
    await scope.clock.sleep(PAUSE_MS);
  }
  throw new RetryableError('the cluster has made no token for the service account yet');
}

/** Makes a service account with a token, for other deployments. */
async function start(scope: Scope): Promise<void> {
  const { api, connection, account, binding, secret } = await open(scope);
  for (const one of [account, binding, secret]) await api.apply(one, { isForced: true });
  const { runtime } = scope;
  runtime.service_account = account.metadata.name;
  runtime['k8s-ip'] = connection.server;
  if (connection.tls.ca !== undefined) runtime['k8s-cacert'] = connection.tls.ca;
  runtime['k8s-service-account-token'] = await tokenOf(scope, api, secret);
}

/** A cluster that other deployments use: by a token of its own. */
export const sharedCluster = nodeType({
  description: 'A cluster that other deployments use with a service account',
  derivedFrom: 'cloudify.nodes.SharedResource',
  aliases: ['cloudify.kubernetes.resources.SharedCluster'],
  properties: PROPERTIES,
  runtime: RUNTIME,
  mappings: {
    configure: 'kubernetes.cloudify_kubernetes.tasks.refresh_config',
    start: 'kubernetes.cloudify_kubernetes.tasks.create_token',
    poststart: 'kubernetes.cloudify_kubernetes.tasks.read_token',
    prestop: 'kubernetes.cloudify_kubernetes.tasks.refresh_config',
    stop: 'kubernetes.cloudify_kubernetes.tasks.delete_token',
    check_status: 'kubernetes.cloudify_kubernetes.tasks.get_token_status',
  },
  // Each operation reads the configuration anew: there is nothing to refresh.
  configure: nothing,
  start,
  async poststart(scope) {
    const { api, secret } = await open(scope);
    scope.runtime['k8s-service-account-token'] = await tokenOf(scope, api, secret);
  },
  prestop: nothing,
  async stop(scope) {
    const { api, account, binding, secret } = await open(scope);
    for (const one of [secret, binding, account]) await api.delete(referenceOf(one), BACKGROUND);
    for (const name of Object.keys(RUNTIME.shape)) delete (scope.runtime as Record<string, unknown>)[name];
  },
  async read(scope) {
    const { api, account, secret } = await open(scope);
    const present = [await api.get(referenceOf(account)), await api.get(referenceOf(secret))];
    return present.includes(null) ? null : { service_account: account.metadata.name };
  },
  resumable: ['configure', 'start', 'poststart', 'prestop', 'stop'],
});

function nothing(): void {
  return;
}
