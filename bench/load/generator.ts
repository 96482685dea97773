// A load generator in a process of its own: closed loop, `concurrency` keep-alive connections with one request open each.
import { serveParent } from '../harness/child';
import { openConnection } from './raw-connection';

export interface LoadQuestion {
  origin: string;
  /** Requested in turn. */
  paths: string[];
  headers: Record<string, string>;
  concurrency: number;
  durationMs: number;
}

export interface LoadAnswer {
  requests: number;
  /** Answers other than 200. */
  failures: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  bytesPerAnswer: number;
}

function requestsOf({ origin, paths, headers }: LoadQuestion): Buffer[] {
  const lines = Object.entries({ host: new URL(origin).host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`));
}

async function run(question: LoadQuestion): Promise<LoadAnswer> {
  const { hostname, port } = new URL(question.origin);
  const requests = requestsOf(question);
  const connections = await Promise.all(
    Array.from({ length: question.concurrency }, () => openConnection(hostname, Number(port))),
  );
  const times: number[] = [];
  let failures = 0;
  let bytes = 0;
  let next = 0;
  const begin = performance.now();
  const until = begin + question.durationMs;
  const work = async (connection: (typeof connections)[number]): Promise<void> => {
    for (let start = performance.now(); start < until; ) {
      const answer = await connection.send(requests[next++ % requests.length]!);
      const end = performance.now();
      times.push(end - start);
      if (answer.status !== 200) failures += 1;
      bytes += answer.bytes;
      start = end;
    }
  };
  await Promise.all(connections.map(work));
  const seconds = (performance.now() - begin) / 1000;
  for (const connection of connections) connection.close();
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return {
    requests: times.length,
    failures,
    seconds,
    perSecond: times.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    bytesPerAnswer: Math.round(bytes / Math.max(1, times.length)),
  };
}

serveParent<LoadQuestion>(run);
