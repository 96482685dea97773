import type { Log } from '@baton/kernel';
import type { Loop } from '@baton/service-runtime';
import { FIRST_PLACE, resealTexts } from '../commands/reseal-texts';

const INTERVAL_MS = 600_000;

/**
 * Moves signing keys of webhooks and secrets of triggers to the current master key, on every replica; twice is harmless. Each pass
 * looks at all of them: only the secrets service knows which key is the current one.
 */
export function resealTextsLoop(deps: Parameters<typeof resealTexts>[0] & { log: Log }): Loop {
  let place = FIRST_PLACE;
  return {
    name: 'reseal-texts',
    intervalMs: INTERVAL_MS,
    tickOnce: async () => {
      const { next, moved } = await resealTexts(deps, place);
      if (moved > 0) deps.log.info({ kind: place.kind, moved }, 'texts were moved to the current master key');
      place = next ?? FIRST_PLACE;
      return { again: next !== null };
    },
  };
}
