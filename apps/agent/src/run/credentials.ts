import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Credentials } from '@baton/agent-link';
import { AgentFailure, exitCodes } from '../exit-codes';
import type { Places } from '../places';

/** Key, certificate and trusted authorities of the agent. */
export interface AgentCredentials extends Credentials {
  certificate: string;
  key: string;
}

/** @throws AgentFailure notEnrolled, disk */
export function readCredentials(places: Places): AgentCredentials {
  try {
    return {
      authorities: readFileSync(places.authorities, 'utf8'),
      certificate: readFileSync(places.certificate, 'utf8'),
      key: readFileSync(places.key, 'utf8'),
    };
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new AgentFailure(
        exitCodes.notEnrolled,
        `${path}: there is no such file; \`baton-agent enrol\` makes it from a token of the manager`,
        { cause },
      );
    throw new AgentFailure(exitCodes.disk, `${path}: it cannot be read (${code})`, { cause });
  }
}

/** Begin and end of a certificate in ms since 1970. */
export function spanOf(pem: string): { from: number; until: number } {
  const certificate = new X509Certificate(pem);
  return { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
}

/** Names a set of authorities: the digest of the text as the manager gave it, in hexadecimal digits. */
export const digestOfAuthorities = (pem: string): string => createHash('sha256').update(pem).digest('hex');
