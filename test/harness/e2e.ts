// The manager that the end-to-end suites run against: `npm run e2e -- --mode standalone|services --workers N`.
import { type Fleet, type FleetOptions, startFleet } from './fleet';

const e2eMode = (process.env.BATON_E2E_MODE ?? 'standalone') as Fleet['mode'];
const WORKERS = Number(process.env.BATON_E2E_WORKERS ?? 1);

/** Starts a manager of the mode of this run, with as many workers as the run asks for, unless `options` name another number. */
export const startE2eFleet = (options: Omit<FleetOptions, 'mode'> = {}): Promise<Fleet> =>
  startFleet({ mode: e2eMode, workers: WORKERS, ...options });

/** A test for services alone: the workers of a standalone manager end with it, and cannot be killed one by one. */
export function testOfServices(name: string, run: () => Promise<void>): void {
  if (e2eMode === 'services') test(name, run);
}
