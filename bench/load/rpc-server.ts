// A service that returns what it receives, in its own process. It can be asked for its port and its CPU time.
import { clusterStatusRpc } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { createRpcServer } from '@baton/rpc';
import { serveParent } from '../harness/child';

export type RpcServerQuestion = { kind: 'listen' } | { kind: 'cpu' };

const server = createRpcServer({ log: silentLog });
server.serve(clusterStatusRpc.ClusterStatusServiceDefinition, {
  report: async ({ checksJson }) => ({ maintenance: checksJson }),
  getConfig: async ({ scope }) => ({ valuesJson: scope, changed: [] }),
});

serveParent<RpcServerQuestion>(
  async ({ kind }) => (kind === 'listen' ? await server.listen('127.0.0.1', 0) : process.cpuUsage()),
  () => server.close(0),
);
