/** Requests that agents make without a credential, on both listeners: the packages, and install scripts behind their links. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { agentPaths, type agentsRpc } from '@baton/contracts';
import { type FullAnswer, serveFile } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import { answerError } from '../answer-error';
import { UNLESS_SAID } from '../fixed-headers';
import { pathOf, setAll } from '../static-answers';
import type { AgentPackages } from './agent-packages';

export interface OpenRequestsDeps {
  agents: Pick<RpcClient<typeof agentsRpc.AgentsServiceDefinition>, 'readInstallScript'>;
  packages: AgentPackages;
  /** Headers [name, value, ...] of every answer. */
  fixedHeaders(request: IncomingMessage): readonly string[];
  /** Counts the request for its address. @throws AppError too_many_requests_error */
  count(request: IncomingMessage): void | Promise<void>;
  /** Watches an answer for clients that take nothing of it; returns the function that ends it. */
  watch(request: IncomingMessage, response: ServerResponse): () => void;
}

/** Answers the request if it is one of these; false: it is not. */
export type OpenRequests = (request: IncomingMessage, response: ServerResponse) => boolean;

const SCRIPT_MS = 5_000;
const LINK = /^[\w.-]{8,512}$/;
/** Files that are sent at the same time. */
const MAX_DOWNLOADS = 256;

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

export function createOpenRequests(deps: OpenRequestsDeps): OpenRequests {
  const send = createSender(deps);
  return (request, response) => {
    const path = pathOf(request.url!);
    const isPackages = isBelow(path, agentPaths.packages);
    if (!isPackages && !isBelow(path, agentPaths.install)) return false;
    const answer = async (): Promise<void> => {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new AppError('method_not_allowed_error', `${path} is only read`, { expected: ['GET', 'HEAD'] });
      await deps.count(request);
      if (isPackages) await answerPackages(deps, path, request, send(request, response));
      else await answerScript(deps, path, send(request, response));
    };
    answer().catch((error: unknown) => {
      answerError(response, error, [...deps.fixedHeaders(request), ...UNLESS_SAID], request);
    });
    return true;
  };
}

type Send = (full: FullAnswer) => void;

function createSender({ fixedHeaders, watch }: OpenRequestsDeps) {
  let downloads = 0;
  return (request: IncomingMessage, response: ServerResponse): Send =>
    ({ status = 200, headers = {}, body, stream, length, contentType }) => {
      setAll(response, fixedHeaders(request));
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (contentType) response.setHeader('content-type', contentType);
      if (!stream) {
        const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
        if (status !== 304) response.setHeader('content-length', Buffer.byteLength(text));
        return void response.writeHead(status).end(text);
      }
      response.setHeader('content-length', length!);
      const file = stream as NodeJS.ReadableStream & { destroy(): void };
      if (request.method === 'HEAD') {
        file.destroy();
        return void response.writeHead(status).end();
      }
      if (downloads >= MAX_DOWNLOADS) {
        file.destroy();
        throw new AppError(
          'service_unavailable_error',
          'Too many packages are sent at once; try again in a second',
        );
      }
      downloads += 1;
      const unwatch = watch(request, response);
      response.writeHead(status);
      pipeline(file, response, () => {
        downloads -= 1;
        unwatch();
      });
    };
}

async function answerPackages(
  { packages }: OpenRequestsDeps,
  path: string,
  request: IncomingMessage,
  send: Send,
): Promise<void> {
  const all = packages.list();
  if (path === agentPaths.packages) {
    const body = all.map(({ platform, version, sha256, size }) => ({ platform, version, sha256, size }));
    return send({ body, contentType: 'application/json', headers: { 'cache-control': 'no-cache' } });
  }
  const platform = path.slice(agentPaths.packages.length + 1);
  const found = all.find((one) => one.platform === platform);
  if (!found)
    throw new AppError('not_found_error', 'This manager has no agent for the platform', {
      expected: all.length > 0 ? all.map((one) => one.platform) : 'none: the agents are not built',
    });
  const file = {
    name: found.file,
    size: found.size,
    tag: found.sha256,
    modifiedAt: found.modifiedAt,
    open: (range?: { start: number; end: number }) => packages.open(found, range) as never,
  };
  const { full } = await serveFile(request.headers, file);
  send({
    ...full,
    headers: { ...full.headers, 'x-baton-sha256': found.sha256, 'x-baton-version': found.version },
  });
}

async function answerScript({ agents }: OpenRequestsDeps, path: string, send: Send): Promise<void> {
  const link = path.slice(agentPaths.install.length + 1);
  if (!LINK.test(link)) throw noScript();
  const { script } = await agents.readInstallScript({ link }, { deadlineMs: SCRIPT_MS });
  send({
    body: script,
    contentType: 'text/x-shellscript; charset=utf-8',
    headers: { 'cache-control': 'no-store' },
  });
}

const noScript = (): AppError =>
  new AppError('not_found_error', 'No install script is behind this link: it was used, or is too old');
