/** How an agent gets its certificate: once by a token, and again and again by the certificate before. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { type Asked, type Credentials, requestOf } from '@baton/agent-link';
import { type AgentAbout, agentPaths, agentSettings } from '@baton/contracts';
import { z } from 'zod';
import { type AgentConfig, proxyOf } from '../config';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';
import type { AgentCredentials } from '../run/credentials';
import { writeSettings } from '../run/settings';
import { writePrivate } from '../run/state-file';

const pem = z
  .string()
  .max(256 * 1024)
  .includes('-----BEGIN CERTIFICATE-----');
const signed = z.object({
  certificate: pem,
  authorities: pem,
  agent: z.object({ id: z.string() }),
  settings: agentSettings,
});
type Signed = z.infer<typeof signed>;

const MOST_BYTES = 1024 * 1024;

/**
 * Exchanges the token for a certificate and stores key, certificate, authorities and settings. The token is good for once.
 * @throws AgentFailure refused, unreachable, disk
 */
export async function enrol(
  places: Places,
  config: AgentConfig,
  token: string,
  about: AgentAbout,
): Promise<{ id: string; until: string }> {
  const { newKey, signingRequest } = signing();
  const key = await newKey();
  // The folder is tried before the token is used up.
  mkdirSync(places.tls, { recursive: true, mode: 0o700 });
  writePrivate(`${places.key}.new`, key);
  const body = { token, signing_request: await signingRequest(key, config.name), about };
  const credentials = { authorities: config.authorities };
  const answer = await askAll(config, { method: 'POST', path: agentPaths.enrol, body }, credentials);
  checkFits(answer.certificate, key);
  writePrivate(places.authorities, answer.authorities);
  writeSettings(places, answer.settings);
  renameSync(`${places.key}.new`, places.key);
  writePrivate(places.certificate, answer.certificate);
  return { id: answer.agent.id, until: new X509Certificate(answer.certificate).validTo };
}

/**
 * Gets the next certificate for the same key, tries it, and stores it. @throws AgentFailure refused, unreachable
 */
export async function renew(places: Places, config: AgentConfig, present: AgentCredentials): Promise<void> {
  const { signingRequest } = signing();
  const body = { signing_request: await signingRequest(present.key, config.name) };
  const answer = await askAll(config, { method: 'POST', path: agentPaths.renew, body }, present);
  checkFits(answer.certificate, present.key);
  await tryCredentials(config, { ...present, certificate: answer.certificate });
  writePrivate(places.certificate, answer.certificate);
}

/** Opens a connection with these credentials alone. @throws AgentFailure unreachable */
export async function tryCredentials(config: AgentConfig, credentials: Credentials): Promise<void> {
  await eachAddress(config, async (address) => {
    const { body } = await requestOf(
      address,
      { method: 'GET', path: agentPaths.packages },
      credentials,
      proxyOf(config),
    );
    body.resume();
  });
}

/** Loaded when it is needed: once in weeks, and it is large. */
const signing = () => require('@baton/tls/signing-request') as typeof import('@baton/tls/signing-request');

function checkFits(certificate: string, key: string): void {
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
    throw new AgentFailure(exitCodes.refused, 'the manager answers with a certificate of another key');
}

async function askAll(config: AgentConfig, asked: Asked, credentials: Credentials): Promise<Signed> {
  return await eachAddress(config, async (address) => {
    const { status, body } = await requestOf(address, asked, credentials, proxyOf(config));
    let text = '';
    for await (const part of body) {
      text += String(part);
      if (text.length > MOST_BYTES) throw new Error('the answer is too long');
    }
    if (status === 200) return signed.parse(JSON.parse(text));
    const told = messageOf(text);
    if (status >= 400 && status < 500 && status !== 429 && status !== 408)
      throw new AgentFailure(exitCodes.refused, `the manager refuses (status ${status}): ${told}`);
    throw new Error(`status ${status}: ${told}`);
  });
}

/** Tries one address after the other; a refusal of the manager is final. @throws AgentFailure */
async function eachAddress<T>({ addresses }: AgentConfig, ask: (address: string) => Promise<T>): Promise<T> {
  const failures: string[] = [];
  for (const address of addresses) {
    try {
      return await ask(address);
    } catch (error) {
      if (error instanceof AgentFailure) throw error;
      failures.push(`${address}: ${(error as Error).message}`);
    }
  }
  throw new AgentFailure(exitCodes.unreachable, `the manager cannot be reached: ${failures.join('; ')}`);
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message).slice(0, 500);
  } catch {
    return text.slice(0, 200);
  }
}
