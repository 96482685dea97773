/** The certificate of the agents' listener: deployments signs it, the key exists only in the memory of this process. */
import { X509Certificate } from 'node:crypto';
import { AGENT_SERVER_NAME, type agentsRpc } from '@baton/contracts';
import type { Clock, FloodLog } from '@baton/kernel';
import type { RpcClient } from '@baton/rpc';
import type { Loop } from '@baton/service-runtime';

/** PEM texts. */
export interface ListenerMaterial {
  key: string;
  cert: string;
  /** The authorities whose agents are let in. */
  ca: string;
}

export interface ListenerCertificate {
  /** Null until deployments has answered once. */
  current(): ListenerMaterial | null;
  /** Asks again soon when agents are told of other authorities than before. */
  learn(authorities: string): void;
  /** Asks again, because the authorities may have changed; at most every half minute. */
  doubt(): void;
  loop: Loop;
  /** Gives up a question under way. */
  close(): void;
}

export interface ListenerCertificateDeps {
  agents: Pick<RpcClient<typeof agentsRpc.AgentsServiceDefinition>, 'issueListenerCertificate'>;
  gatewayId: string;
  clock: Clock;
  floods: FloodLog;
  onChange(material: ListenerMaterial): void;
}

const LOOK_MS = 1_000;
const DOUBT_MS = 30_000;
/** Part of a certificate's life after which the next one is asked for. */
const RENEW_AT = 2 / 3;
/** A certificate whose dates cannot be read, or that has no life left, is asked for again after this time. */
const LEAST_MS = 60_000;

/** Wants the certificate from the first tick of its loop on. While deployments is away, the last one stays. */
export function createListenerCertificate(deps: ListenerCertificateDeps): ListenerCertificate {
  const { agents, gatewayId, clock, floods } = deps;
  const closing = new AbortController();
  let isIssuing = false;
  let material: ListenerMaterial | null = null;
  /** The authorities of which an agent was told last. */
  let heard = '';
  let renewAtMs = Number.NEGATIVE_INFINITY;
  let doubtedMs = Number.NEGATIVE_INFINITY;
  const issue = async (): Promise<void> => {
    // Loaded only here: it is needed once in a long time.
    const { newKey, signingRequest } = await import('@baton/tls/signing-request');
    const key = await newKey();
    const asked = { gatewayId, signingRequest: await signingRequest(key, AGENT_SERVER_NAME) };
    const issued = await agents.issueListenerCertificate(asked, { signal: closing.signal });
    const next = { key, cert: issued.certificate, ca: issued.authorities };
    renewAtMs = clock.monotonic() + lifeMs(next.cert, clock.now()) * RENEW_AT;
    material = next;
    deps.onChange(next);
  };
  /** Never rejects. */
  const issueOnce = async (): Promise<void> => {
    isIssuing = true;
    try {
      await issue();
    } catch (error) {
      const reason = (error as Error).message;
      if (!closing.signal.aborted)
        floods.warn('agents', reason, { reason }, 'no certificate for the listener of agents');
    } finally {
      isIssuing = false;
    }
  };
  /** Returns whether it is asked again. */
  const doubt = (): boolean => {
    const nowMs = clock.monotonic();
    if (!material || nowMs - doubtedMs < DOUBT_MS) return false;
    doubtedMs = nowMs;
    renewAtMs = nowMs;
    return true;
  };
  return {
    current: () => material,
    learn(authorities) {
      if (authorities === heard || !material) return;
      if (authorities === material.ca || doubt()) heard = authorities;
    },
    doubt: () => void doubt(),
    loop: {
      name: 'agents-listener',
      intervalMs: LOOK_MS,
      // Not awaited: a gateway that stops does not wait for it.
      tickOnce: async () => {
        if (!isIssuing && clock.monotonic() >= renewAtMs) void issueOnce();
      },
    },
    close: () => closing.abort(),
  };
}

/** What is left of a certificate's life. @throws Error when the text is no certificate */
function lifeMs(cert: string, nowMs: number): number {
  const left = Date.parse(new X509Certificate(cert).validTo) - nowMs;
  return Math.max(left, LEAST_MS);
}
