/** Requests of the agents' listener beside the stream: enrolment and renewal of certificates. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentAbout, agentPaths, type agentsRpc } from '@baton/contracts';
import { parseJson } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import { z } from 'zod';
import { answerError } from '../answer-error';
import { UNLESS_SAID } from '../fixed-headers';
import { pathOf } from '../static-answers';
import { shownAgent } from './agent-stream';
import { peerOfRequest } from './peer';

export interface CertifiedRequestsDeps {
  agents: Pick<RpcClient<typeof agentsRpc.AgentsServiceDefinition>, 'enrolAgent' | 'renewAgentCertificate'>;
  fixedHeaders(request: IncomingMessage): readonly string[];
  /** Counts the request for its address. @throws AppError too_many_requests_error */
  count(request: IncomingMessage): void | Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
const BODY_MS = 10_000;
const SIGN_MS = 10_000;

const signingRequest = z.string().min(1).max(16_384);
const enrolBody = z.object({
  token: z.string().min(1).max(1_000),
  signing_request: signingRequest,
  about: agentAbout,
});
const renewBody = z.object({ signing_request: signingRequest });

/** Answers the request if it is one of these; false: it is not. */
export function createCertifiedRequests(
  deps: CertifiedRequestsDeps,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const path = pathOf(request.url!);
    if (path !== agentPaths.enrol && path !== agentPaths.renew) return false;
    const answer = async (): Promise<void> => {
      if (request.method !== 'POST')
        throw new AppError('method_not_allowed_error', `${path} takes POST only`, { expected: ['POST'] });
      await deps.count(request);
      const signed = await (path === agentPaths.enrol ? enrol(deps, request) : renew(deps, request));
      write(response, deps.fixedHeaders(request), signed);
    };
    answer().catch((error: unknown) => {
      answerError(response, error, [...deps.fixedHeaders(request), ...UNLESS_SAID], request);
    });
    return true;
  };
}

async function enrol({ agents }: CertifiedRequestsDeps, request: IncomingMessage) {
  const { token, signing_request, about } = await bodyOf(request, enrolBody);
  const asked = { token, signingRequest: signing_request, aboutJson: JSON.stringify(about) };
  return await agents.enrolAgent(asked, { deadlineMs: SIGN_MS });
}

async function renew({ agents }: CertifiedRequestsDeps, request: IncomingMessage) {
  const peer = peerOfRequest(request);
  if (!peer)
    throw new AppError(
      'unauthorized_error',
      'A certificate is renewed over a connection that shows the present one',
    );
  const { signing_request } = await bodyOf(request, renewBody);
  const { agentId, serial } = peer;
  return await agents.renewAgentCertificate(
    { agentId, serial, signingRequest: signing_request },
    { deadlineMs: SIGN_MS },
  );
}

function write(
  response: ServerResponse,
  headers: readonly string[],
  { certificate, authorities, agent, settingsJson }: agentsRpc.AgentCertificate,
): void {
  if (!agent) throw new Error('deployments signed a certificate of no agent');
  const body = JSON.stringify({
    certificate,
    authorities,
    agent: shownAgent(agent),
    settings: JSON.parse(settingsJson),
  });
  response
    .writeHead(200, [
      ...headers,
      ...UNLESS_SAID,
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(body)),
    ])
    .end(body);
}

/** Reads a short JSON body. @throws AppError payload_too_large_error, request_body_timeout_error, bad_parameters_error */
async function bodyOf<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const bytes = await bytesOf(request);
  const read = schema.safeParse(parseJson(bytes.toString('utf8')));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new AppError(
    'bad_parameters_error',
    `The body is not as expected at \`${field}\`: ${issue?.message}`,
    {
      field,
      expected: issue?.message ?? 'a JSON object',
    },
  );
}

function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const end = (error?: AppError): void => {
      clearTimeout(timer);
      request.off('data', take);
      if (error) reject(error);
      else resolve(Buffer.concat(pieces));
    };
    const late = (): void =>
      end(
        new AppError('request_body_timeout_error', 'The body of the request came too slowly', {
          field: 'body',
        }),
      );
    const take = (piece: Buffer): void => {
      length += piece.length;
      pieces.push(piece);
      if (length > MAX_BODY_BYTES)
        end(
          new AppError('payload_too_large_error', `The body has more than ${MAX_BODY_BYTES} bytes`, {
            expected: `at most ${MAX_BODY_BYTES} bytes`,
          }),
        );
    };
    const timer = setTimeout(late, BODY_MS);
    request.on('data', take);
    request.once('end', () => end());
    request.once('close', () =>
      end(new AppError('bad_parameters_error', 'The body of the request is not whole')),
    );
  });
}
