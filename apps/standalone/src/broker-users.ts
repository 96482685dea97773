/** Imports into RabbitMQ: exchanges, queues, and a user for each service with the rights that the service needs. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rabbitDefinitions } from '@baton/broker';
import type { Log } from '@baton/kernel';
import type { Transport } from '@baton/service-runtime';
import { clientTls } from '@baton/tls';
import type { BrokerUsers } from './migrate-config';

const ANSWER_MS = 60_000;
const MAX_REASON = 300;

/**
 * Imports one document. A repeated import changes passwords and permissions, and adds what a newer release adds. After a crash the
 * next run imports it again. @throws Error with the answer of a server that refuses
 */
export async function ensureBrokerUsers(
  { apiUrl, vhost, logins }: BrokerUsers,
  o: { namespace: string; trust?: Transport['servers']; log: Log },
): Promise<void> {
  const definitions = rabbitDefinitions({ vhost, logins, namespace: o.namespace || undefined });
  const url = new URL(apiUrl.expose());
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.pathname = `${url.pathname.replace(/\/$/, '')}/api/definitions`;
  [url.username, url.password] = ['', ''];
  const { status, text } = await post(url, login, JSON.stringify(definitions), o.trust ?? null);
  if (status >= 300) throw new Error(`RabbitMQ answered ${status}: ${text.slice(0, MAX_REASON)}`);
  o.log.info({ vhost, users: logins.map(({ user }) => user) }, 'users and queues of RabbitMQ are there');
}

function post(
  url: URL,
  login: string,
  body: string,
  trust: Transport['servers'],
): Promise<{ status: number; text: string }> {
  const isTls = url.protocol === 'https:';
  const options = {
    method: 'POST',
    auth: login,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    timeout: ANSWER_MS,
    ...(isTls && trust ? clientTls(trust) : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 500, text }));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('RabbitMQ does not answer')));
    request.on('error', reject);
    request.end(body);
  });
}
