import { type AuthorityDeps, tendAuthorities } from '../../commands/agents/authorities';
import { forgetEnrolments } from '../../commands/agents/enrolment';

const INTERVAL_MS = 600_000;

/** Retires authorities of agents, seals their keys under the present master key, and forgets old tokens; on every replica. */
export function tendAgentAuthoritiesLoop(deps: AuthorityDeps) {
  return {
    name: 'tend-agent-authorities',
    intervalMs: INTERVAL_MS,
    tickOnce: async () => {
      await tendAuthorities(deps);
      return await forgetEnrolments(deps);
    },
  };
}
