// A small unary call from one process to another: through a call stream (docs/adr/0019-call-streams.md), compared with a separate
// gRPC call.
import { clusterStatusRpc } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { createGrpcConnector } from '@baton/rpc';
import { Client, credentials } from '@grpc/grpc-js';
import { type Child, startChild } from '../harness/child';
import { columns, type Plan } from '../harness/report';
import { median, ratios, rounded } from '../harness/statistics';
import type { RpcServerQuestion } from '../load/rpc-server';

type Server = Child<RpcServerQuestion, unknown>;
type Call = () => Promise<unknown>;
interface Cost {
  ms: number;
  /** Milliseconds of CPU of both processes. */
  cpuMs: number;
}

const BODY = 'x'.repeat(900);
const CALLS = { quick: 2_000, full: 10_000 };
const CONCURRENCY = [1, 16];

export async function rpc(plan: Plan): Promise<object> {
  const server: Server = startChild('load/rpc-server.ts');
  const address = `127.0.0.1:${await server.ask({ kind: 'listen' })}`;
  const alone = new Client(address, credentials.createInsecure());
  const connector = createGrpcConnector({ addresses: { 'cluster-status': address }, log: silentLog });
  const client = connector.client(clusterStatusRpc.ClusterStatusServiceDefinition, 'cluster-status');
  const byStream: Call = () => client.report({ checksJson: BODY });
  const count = plan.isQuick ? CALLS.quick : CALLS.full;
  const results: Record<string, object> = {};
  try {
    for (const concurrency of CONCURRENCY) {
      const streamed: Cost[] = [];
      const single: Cost[] = [];
      for (let round = -1; round < plan.rounds; round++) {
        const pair = [
          await costOf(server, byStream, count, concurrency),
          await costOf(server, () => reportAlone(alone), count, concurrency),
        ] as const;
        if (round < 0) continue;
        streamed.push(pair[0]);
        single.push(pair[1]);
      }
      results[`x${concurrency}`] = report(plan, `rpc, x${concurrency}`, streamed, single);
    }
    return results;
  } finally {
    connector.close();
    alone.close();
    await server.stop();
  }
}

const { report: method } = clusterStatusRpc.ClusterStatusServiceDefinition.methods;

function reportAlone(client: Client): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/baton.cluster_status.v1.ClusterStatusService/Report',
      (request) => Buffer.from(method.requestType.encode(request).finish()),
      (bytes) => method.responseType.decode(bytes),
      method.requestType.fromPartial({ checksJson: BODY }),
      { deadline: Date.now() + 10_000 },
      (error, response) => (error ? reject(error) : resolve(response)),
    );
  });
}

async function costOf(server: Server, call: Call, count: number, concurrency: number): Promise<Cost> {
  const theirs = (await server.ask({ kind: 'cpu' })) as NodeJS.CpuUsage;
  const ours = process.cpuUsage();
  const begin = performance.now();
  const lane = async (): Promise<void> => {
    for (let i = 0; i < count / concurrency; i++) await call();
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const ms = (performance.now() - begin) / count;
  const spent = process.cpuUsage(ours);
  const after = (await server.ask({ kind: 'cpu' })) as NodeJS.CpuUsage;
  const micros = spent.user + spent.system + after.user + after.system - theirs.user - theirs.system;
  return { ms, cpuMs: micros / 1000 / count };
}

function report(plan: Plan, title: string, streamed: readonly Cost[], single: readonly Cost[]): object {
  const figures = (of: keyof Cost) => {
    const [ours, theirs] = [streamed.map((one) => one[of]), single.map((one) => one[of])];
    return {
      stream: rounded(median(ours), 3),
      alone: rounded(median(theirs), 3),
      ratio: ratios(ours, theirs, 'least'),
    };
  };
  const [ms, cpuMs] = [figures('ms'), figures('cpuMs')];
  const cells = ({ stream, alone, ratio }: ReturnType<typeof figures>) =>
    `${stream} (alone ${alone}; ${ratio.median})`;
  plan.say(columns(title, `ms a call ${cells(ms)}`, `  CPU ms ${cells(cpuMs)}`));
  return { rounds: streamed.length, msPerCall: ms, cpuMsPerCall: cpuMs };
}
