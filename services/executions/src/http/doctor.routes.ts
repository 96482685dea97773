import { doctorRoutes } from '@baton/contracts/http/doctor';
import { type BoundRoute, bindRoutes } from '@baton/http';
import { runDoctor } from '../commands/run-doctor';
import type { EngineDeps } from '../engine/deps';

/** The doctor: finds and repairs damage of the stored state (`baton doctor`). */
export function doctorHttp(deps: EngineDeps): BoundRoute[] {
  return bindRoutes(doctorRoutes, {
    examine: async () => ({ items: await runDoctor(deps, false) }),
    repair: async () => ({ items: await runDoctor(deps, true) }),
  });
}
