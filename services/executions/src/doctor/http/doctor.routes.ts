import { doctorRoutes } from '@baton/contracts/http/doctor';
import { type BoundRoute, bindRoutes } from '@baton/http';
import type { DoctorPart } from '../adapters/doctor-parts';
import { type RunDoctorDeps, runDoctor } from '../commands/run-doctor';

type DoctorRoutesDeps = RunDoctorDeps;

/** The doctor: finds and repairs damage of the stored state, here and in the other services that it calls (`baton doctor`). */
export function doctorHttp(deps: DoctorRoutesDeps, parts: readonly DoctorPart[]): BoundRoute[] {
  return bindRoutes(doctorRoutes, {
    examine: async () => ({ items: await runDoctor(deps, false, parts) }),
    repair: async () => ({ items: await runDoctor(deps, true, parts) }),
  });
}
