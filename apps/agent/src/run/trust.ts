/** Certificates and authorities while the agent runs: renewal at two thirds, and changes of the authorities. */
import type { Notice, Welcome } from '@baton/agent-link';
import type { Clock, Log } from '@baton/kernel';
import type { AgentConfig } from '../config';
import { renew, tryCredentials } from '../enrolment/certificates';
import type { Places } from '../places';
import type { RunningAgent } from './agent';
import { spanOf } from './credentials';
import { writePrivate } from './state-file';

type TrustNotice = Extract<Notice, { notice: 'trust' }>;

export interface Trust {
  noticed(notice: TrustNotice): void;
  welcomed(welcome: Welcome): void;
  close(): void;
}

const LOOK_MS = 600_000;
const RENEW_AT = 2 / 3;

export interface TrustDeps {
  places: Places;
  config: AgentConfig;
  agent: Pick<RunningAgent, 'credentials' | 'reloadCredentials' | 'link'>;
  clock: Clock;
  log: Log;
}

export function keepTrust(deps: TrustDeps): Trust {
  const { places, config, agent, clock, log } = deps;
  let working: Promise<void> = Promise.resolve();
  const inTurn = (what: string, work: () => Promise<void>): void => {
    working = working.then(work).catch((error: unknown) => {
      log.error({ reason: (error as Error).message }, `${what} failed; it is tried again`);
    });
  };
  const replaceAuthorities = async (authorities: string): Promise<void> => {
    if (authorities === agent.credentials().authorities) return;
    // Only with the new ones: the old are dropped when that works.
    await tryCredentials(config, { ...agent.credentials(), authorities });
    writePrivate(places.authorities, authorities);
    agent.reloadCredentials();
    log.info({}, 'the authorities of the manager have changed');
  };
  const renewNow = async (): Promise<void> => {
    await renew(places, config, agent.credentials());
    agent.reloadCredentials();
    agent.link.reopen('the certificate was renewed');
    log.info({ until: spanOf(agent.credentials().certificate).until }, 'the certificate was renewed');
  };
  const look = (): void => {
    if (isDue(agent.credentials().certificate, clock.now()))
      inTurn('the renewal of the certificate', renewNow);
  };
  // Spread, so that agents that were installed together do not renew together.
  const looking = setInterval(look, LOOK_MS * (0.5 + Math.random()));
  setImmediate(look);
  return {
    noticed: ({ authorities, renew: isRenewed }) => {
      inTurn('the change of the authorities', () => replaceAuthorities(authorities));
      if (isRenewed) inTurn('the renewal of the certificate', renewNow);
    },
    welcomed: ({ authorities }) =>
      inTurn('the change of the authorities', () => replaceAuthorities(authorities)),
    close: () => clearInterval(looking),
  };
}

/** Whether two thirds of the life of the certificate are over. */
export function isDue(pem: string, nowMs: number): boolean {
  const { from, until } = spanOf(pem);
  return nowMs >= from + (until - from) * RENEW_AT;
}
