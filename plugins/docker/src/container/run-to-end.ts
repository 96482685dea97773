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
  State: { Status: string; Running: boolean; ExitCode: number; StartedAt: string; FinishedAt: string };
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

/** Waits for the end of a container. Gives the last part of its output, after the time `since` (of the engine, by ISO 8601). */
export async function followed(
  { log }: { log: OperationLogger },
  engine: Engine,
  id: string,
  isTerminal: boolean,
  since?: string,
): Promise<string> {
  const output = outputOf(isTerminal);
  const query = {
    stdout: true,
    stderr: true,
    follow: true,
    ...(since !== undefined && { since: secondsOf(since) }),
  };
  await engine.call('GET', `/containers/${id}/logs`, { query, onData: output.onData, timeoutMs: 0 });
  await engine.call('POST', `/containers/${id}/wait`, { timeoutMs: 0 });
  for (const line of output.text().split('\n').slice(-200)) if (line.trim() !== '') log.info(plainLine(line));
  return output.text();
}

/** Seconds since 1970 with all digits that the engine gave: an earlier run may have ended in the same second. */
const secondsOf = (time: string): string =>
  `${Math.max(0, Math.floor(Date.parse(time) / 1000))}.${/\.(\d+)/.exec(time)?.[1] ?? '0'}`;
