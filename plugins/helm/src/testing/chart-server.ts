import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app: {{ .Release.Name }} } }
    spec:
      containers:
        - name: web
          image: {{ .Values.image | quote }}
`;
const secret = `apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }}-login }
stringData: { password: {{ .Values.password | quote }} }
`;

/** The files of a small chart: a Deployment and a Secret. */
const chartFiles = (version: string): Record<string, string> => ({
  'Chart.yaml': `apiVersion: v2\nname: web\nversion: ${version}\n`,
  'values.yaml': 'replicas: 1\nimage: nginx:1.25\npassword: none\n',
  'templates/deployment.yaml': deployment,
  'templates/secret.yaml': secret,
});

export interface ChartServer {
  readonly url: string;
  readonly requests: { path: string; authorization: string | undefined }[];
  /** Answers before the files do; null: no answer. */
  answer: ((request: IncomingMessage) => { status?: number; body: string | Uint8Array } | null) | null;
  stop(): Promise<void>;
}

/** A repository of charts over HTTP, with the versions 0.1.0 and 0.2.0 of the chart `web`. */
export async function startChartServer(helm: string): Promise<ChartServer> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-charts-'));
  const packed = join(folder, 'packed');
  for (const version of ['0.1.0', '0.2.0']) {
    const source = join(folder, version);
    mkdirSync(join(source, 'templates'), { recursive: true });
    for (const [name, text] of Object.entries(chartFiles(version))) writeFileSync(join(source, name), text);
    execFileSync(helm, ['package', source, '--destination', packed], { stdio: 'pipe' });
  }
  const served: Pick<ChartServer, 'requests' | 'answer'> = { requests: [], answer: null };
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').slice(1);
    served.requests.push({ path, authorization: request.headers.authorization });
    const answer = served.answer?.(request);
    const isThere = readdirSync(packed).includes(path);
    response.writeHead(answer ? (answer.status ?? 200) : isThere ? 200 : 404);
    response.end(answer ? answer.body : isThere ? readFileSync(join(packed, path)) : 'no such file');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  execFileSync(helm, ['repo', 'index', packed, '--url', url], { stdio: 'pipe' });
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return Object.assign(served, { url, stop });
}
