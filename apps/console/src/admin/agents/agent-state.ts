/** What the parts of an agent's connection mean for people: state, certificate, what it says of itself. */
import type { Tone } from '../../ui/tone';
import type { AgentRow } from './agents';

type Named = Pick<AgentRow, 'state' | 'is_connected' | 'certificate'>;

/** `connected` and `away` tell two agents in `started` apart: the stream of the second one ended a moment ago. */
export type AgentWord =
  | 'revoked'
  | 'connected'
  | 'away'
  | 'waiting'
  | 'nonresponsive'
  | 'failed'
  | 'upgrading'
  | 'restored'
  | 'installing'
  | 'ending'
  | 'ended';

const WORDS: Readonly<Record<string, AgentWord>> = {
  nonresponsive: 'nonresponsive',
  failed: 'failed',
  upgrading: 'upgrading',
  restored: 'restored',
  creating: 'installing',
  created: 'waiting',
  configuring: 'installing',
  configured: 'waiting',
  starting: 'waiting',
  restarting: 'waiting',
  stopping: 'ending',
  deleting: 'ending',
  stopped: 'ended',
  deleted: 'ended',
};

/** Returns the state of an agent in one word of `t.agents.words`. A revoked certificate outweighs all else. */
export function wordOf({ state, is_connected: isConnected, certificate }: Named): AgentWord {
  if (certificate?.revoked_at) return 'revoked';
  return WORDS[state] ?? (isConnected ? 'connected' : 'away');
}

const TONES: Readonly<Record<AgentWord, Tone>> = {
  revoked: 'idle',
  connected: 'good',
  away: 'warn',
  waiting: 'wait',
  nonresponsive: 'bad',
  failed: 'bad',
  upgrading: 'busy',
  restored: 'wait',
  installing: 'busy',
  ending: 'busy',
  ended: 'idle',
};
export const toneOfWord = (word: AgentWord): Tone => TONES[word];

const WARN_MS = 10 * 86_400_000;
export type CertificateState = 'none' | 'good' | 'soon' | 'expired' | 'revoked';

/** Agents renew their certificates at two thirds: one with less than ten days left has not managed to. */
export function certificateState(certificate: AgentRow['certificate'], nowMs: number): CertificateState {
  if (!certificate) return 'none';
  if (certificate.revoked_at) return 'revoked';
  const leftMs = Date.parse(certificate.expires_at) - nowMs;
  if (leftMs <= 0) return 'expired';
  return leftMs < WARN_MS ? 'soon' : 'good';
}

export interface About {
  version: string | null;
  hostname: string | null;
  platform: string | null;
  system: string | null;
  processManagement: string | null;
  startedAt: string | null;
  slots: number | null;
  running: number | null;
  waitingLines: number | null;
  droppedLines: number | null;
  upgrade: { version: string; state: string; reason: string | null } | null;
}

const textIn = (of: Record<string, unknown>, name: string): string | null =>
  typeof of[name] === 'string' && of[name] !== '' ? (of[name] as string) : null;
const numberIn = (of: Record<string, unknown>, name: string): number | null =>
  typeof of[name] === 'number' ? (of[name] as number) : null;

/** Reads what an agent says of itself. It comes from a host, so nothing about its form is taken for granted. */
export function aboutOf(about: AgentRow['about']): About {
  const said = about ?? {};
  const upgrade = said.upgrade as Record<string, unknown> | null | undefined;
  const isUpgrade = typeof upgrade === 'object' && upgrade !== null;
  return {
    version: textIn(said, 'version'),
    hostname: textIn(said, 'hostname'),
    platform: textIn(said, 'platform'),
    system: textIn(said, 'system'),
    processManagement: textIn(said, 'processManagement'),
    startedAt: textIn(said, 'startedAt'),
    slots: numberIn(said, 'slots'),
    running: numberIn(said, 'running'),
    waitingLines: numberIn(said, 'waitingLines'),
    droppedLines: numberIn(said, 'droppedLines'),
    upgrade: isUpgrade
      ? {
          version: textIn(upgrade, 'version') ?? '',
          state: textIn(upgrade, 'state') ?? '',
          reason: textIn(upgrade, 'reason'),
        }
      : null,
  };
}

/** Groups agents by their deployments: workflows run on one deployment each. */
export function byDeployment(
  rows: readonly Pick<AgentRow, 'deployment_id' | 'node_instance_id'>[],
): [deployment: string, instances: string[]][] {
  const found = new Map<string, string[]>();
  for (const { deployment_id: id, node_instance_id: instance } of rows)
    found.set(id, [...(found.get(id) ?? []), instance]);
  return [...found];
}
