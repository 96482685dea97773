// A load generator in its own process: closed loop, `concurrency` keep-alive connections with one open request each.
import { serveParent } from '../harness/child';
import { openConnection } from './raw-connection';

export interface LoadRequest {
  /** Default GET. */
  method?: string;
  /** `{n}` stands for a new number in each request. */
  path: string;
  body?: object;
}

export interface LoadQuestion {
  origin: string;
  /** Sent in turn. */
  requests: LoadRequest[];
  headers: Record<string, string>;
  concurrency: number;
  durationMs: number;
}

export interface LoadAnswer {
  requests: number;
  /** Answers other than 2xx. */
  failures: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  bytesPerAnswer: number;
}

let unused = 0;

/** Returns the requests as bytes; requests with a number are created anew each time. */
function requestsOf({ origin, requests, headers }: LoadQuestion): (() => Buffer)[] {
  const lines = Object.entries({ host: new URL(origin).host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return requests.map(({ method = 'GET', path, body }) => {
    const bytesOf = (own: string): Buffer => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const more =
        body === undefined
          ? []
          : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`];
      return Buffer.from(`${method} ${own} HTTP/1.1\r\n${[...lines, ...more].join('\r\n')}\r\n\r\n${text}`);
    };
    if (path.includes('{n}')) return () => bytesOf(path.replace('{n}', String(++unused)));
    const bytes = bytesOf(path);
    return () => bytes;
  });
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
      const answer = await connection.send(requests[next++ % requests.length]!());
      const end = performance.now();
      times.push(end - start);
      if (answer.status < 200 || answer.status > 299) failures += 1;
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
