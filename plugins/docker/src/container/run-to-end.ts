import type { OperationLogger } from '@baton/plugin-sdk';
import { plainLine } from '@baton/plugin-sdk/ssh';
import type { Engine } from '../engine/engine';
import { outputOf } from '../engine/output';

/** What the engine says about a container. */
export interface Inspected {
  Id: string;
  Image: string;
  Name: string;
  Created: string;
  State: { Status: string; Running: boolean; ExitCode: number; StartedAt: string };
  Config: { Tty: boolean; Image: string };
  NetworkSettings?: { IPAddress?: string; Ports?: unknown };
}

/** @returns null: there is no such container */
export async function inspect(engine: Engine, id: string): Promise<Inspected | null> {
  const { status, json } = await engine.call('GET', `/containers/${encodeURIComponent(id)}/json`, {
    alsoOk: [404],
  });
  return status === 404 ? null : json<Inspected>();
}

/** The runtime property `container_info`. */
export const infoOf = ({ Id, Name, Image, Created, State, NetworkSettings }: Inspected) => ({
  id: Id,
  name: Name.replace(/^\//, ''),
  image: Image,
  created: Created,
  status: State.Status,
  ip: NetworkSettings?.IPAddress ?? '',
  ports: NetworkSettings?.Ports ?? {},
});

/** Waits for the end of a container. Gives the last part of its output. `since`: what `afterOutput` gave. */
export async function followed(
  { log }: { log: OperationLogger },
  engine: Engine,
  id: string,
  isTerminal: boolean,
  since?: string,
): Promise<string> {
  const output = outputOf(isTerminal);
  const query = { stdout: true, stderr: true, follow: true, since };
  await engine.call('GET', `/containers/${id}/logs`, { query, onData: output.onData, timeoutMs: 0 });
  await engine.call('POST', `/containers/${id}/wait`, { timeoutMs: 0 });
  for (const line of output.text().split('\n').slice(-200)) if (line.trim() !== '') log.info(plainLine(line));
  return output.text();
}

/**
 * The time behind the last output of a container that has ended, as the engine takes it: seconds and nanoseconds since 1970. The times
 * of its start and end are no bounds: the engine notes lines later than their container writes them. Undefined: there is no output.
 */
export async function afterOutput(
  engine: Engine,
  id: string,
  isTerminal: boolean,
): Promise<string | undefined> {
  const output = outputOf(isTerminal);
  const query = { stdout: true, stderr: true, tail: 1, timestamps: true };
  await engine.call('GET', `/containers/${id}/logs`, { query, onData: output.onData });
  const [, time, fraction] = /^(\d{4}-\d\d-\d\dT[\d:]+)\.(\d+)Z/.exec(output.text()) ?? [];
  if (time === undefined || fraction === undefined) return undefined;
  const nanoseconds = BigInt(Date.parse(`${time}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) + 1n;
  return `${nanoseconds / 1_000_000_000n}.${String(nanoseconds % 1_000_000_000n).padStart(9, '0')}`;
}
