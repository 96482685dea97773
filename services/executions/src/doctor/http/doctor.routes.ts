import { doctorRoutes } from '@baton/contracts/http/doctor';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { EngineDeps } from '../../engine/deps';
import type { DoctorPart } from '../adapters/doctor-parts';
import { runDoctor } from '../commands/run-doctor';

/** The doctor: finds and repairs damage of the stored state, here and in the services asked (`baton doctor`). */
export function doctorHttp(deps: EngineDeps, parts: readonly DoctorPart[]): BoundRoute[] {
  return bindRoutes(doctorRoutes, {
    examine: async () => ({ items: await runDoctor(deps, false, parts) }),
    repair: async () => ({ items: await runDoctor(deps, true, parts) }),
  });
}
