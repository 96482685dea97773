import { readFileSync } from 'node:fs';
import { arch, hostname, platform, release, type } from 'node:os';
import { AGENT_LINK_PROTOCOL, type AgentAbout } from '@baton/contracts';
import { isoInstant } from '@baton/kernel';
import { productVersion } from '@baton/service-runtime';
import { digestOfAuthorities, spanOf } from './credentials';

export const agentPlatform = `${platform()}-${arch()}`;

/** Facts that an agent says of itself. */
export interface AboutFacts {
  processManagement: string;
  startedAtMs: number;
  slots: number;
  running: number;
  waitingLines: number;
  droppedLines: number;
  authorities: string;
  /** PEM; null before the enrolment. */
  certificate: string | null;
  upgrade: AgentAbout['upgrade'];
}

export function aboutOf(facts: AboutFacts): AgentAbout {
  const { authorities, certificate, startedAtMs, ...rest } = facts;
  return {
    ...rest,
    protocol: AGENT_LINK_PROTOCOL,
    version: productVersion,
    platform: agentPlatform,
    hostname: hostname().slice(0, 256),
    system: (system ??= systemName()),
    startedAt: isoInstant(startedAtMs),
    authoritiesDigest: digestOfAuthorities(authorities),
    certificateUntil: certificate === null ? '' : isoInstant(spanOf(certificate).until),
  };
}

let system: string | null = null;

/** Like `Debian GNU/Linux 12 (bookworm)`. */
function systemName(): string {
  try {
    const found = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'));
    if (found) return found[1]!.slice(0, 256);
  } catch {
    // Not every system has the file.
  }
  return `${type()} ${release()}`.slice(0, 256);
}
