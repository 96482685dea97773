import { newId } from '@baton/kernel';
import type { EnginePorts } from '../../../services/executions/src/engine/ports';
import { call } from './peers';
import { newProcess, type Simulation } from './simulation';
import type { VirtualProcess } from './virtual';

type Asked = Pick<Simulation, 'world' | 'fleet'>;

/** Creates a process that runs nothing but the actions of a client. */
export function newClient({ world }: Pick<Asked, 'world'>, name: string = newId()): VirtualProcess {
  const client = newProcess(`client-${name}`, () => undefined);
  world.start(client);
  return client;
}

/** A client sends one request to one engine at time `at`. No answer may arrive even though the work was done. */
export function askAt(simulation: Asked, at: number, what: (deps: EnginePorts) => Promise<unknown>): void {
  const { world } = simulation;
  const client = newClient(simulation);
  world.at(at, () => world.spawn(client, () => askOne(simulation, what)));
}

/** Sends the request now, within the life of the caller. */
export async function askOne<T>(
  { world, fleet }: Asked,
  what: (deps: EnginePorts) => Promise<T>,
): Promise<T | null> {
  return await call(world, fleet.engines, (engine) => what(fleet.depsOf(engine)));
}
