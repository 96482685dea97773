import { type ChangeKind, isShownTo, type Principal } from '@baton/contracts';
import type { StreamEvent } from '@baton/http';
import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import type { ChangeRings, TenantRing } from '../change-rings';
import type { KnownChange, TurnedChange } from '../domain/change-ring';
import { listeningSince } from '../store/moved-executions.sql';

/** The most changes that are taken from the ring at a time. */
const PAGE = 100;
/** Lifetime of a stream, after which its client reconnects: a revoked permission stays in effect at most this long. */
const LIFE_MS = 600_000;

export interface ChangesWanted {
  principal: Principal;
  kinds: ReadonlySet<ChangeKind>;
  /** Null: all. */
  ids: ReadonlySet<string> | null;
  lastEventId: string | null;
}

export interface ChangesDeps {
  db: Pick<Db<DB>, 'query'>;
  rings: ChangeRings;
  lifeMs?: number;
}

/**
 * Streams the changes of resources that the caller may see, from now on or after `lastEventId`. The first event is `ready`; its
 * id is the position of the stream. A client that reads its lists after `ready` misses nothing. `reset` comes before `ready` when
 * `lastEventId` is not known any more, and later when changes were lost or the reader was too slow. The stream ends after
 * `lifeMs`.
 * @throws AppError too_many_requests_error, before the first event.
 */
export function streamChanges(
  deps: ChangesDeps,
  wanted: ChangesWanted,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const { at, close } = deps.rings.open(wanted.principal.tenant, wanted.principal.username);
  const ended = new AbortController();
  // Done here and not only at the end of the generator, which may wait for a reader that never comes.
  const end = (): void => {
    if (ended.signal.aborted) return;
    ended.abort();
    clearTimeout(life);
    signal.removeEventListener('abort', end);
    close();
  };
  const life = setTimeout(end, deps.lifeMs ?? LIFE_MS).unref();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  return followed(deps, at, wanted, ended.signal, end);
}

async function* followed(
  deps: ChangesDeps,
  at: TenantRing,
  wanted: ChangesWanted,
  signal: AbortSignal,
  end: () => void,
): AsyncGenerator<StreamEvent> {
  const { ring } = at;
  const fits = filterOf(wanted);
  const idOf = (position: number) => ({ id: ring.idOf(position) });
  try {
    at.since ??= await listeningSince(deps.db);
    const known = wanted.lastEventId === null ? ring.head : ring.positionOf(wanted.lastEventId);
    let position = known ?? ring.head;
    if (known === null) yield { ...idOf(position), event: 'reset', data: {} };
    yield { ...idOf(position), event: 'ready', data: {} };
    while (!signal.aborted) {
      const found = ring.after(position, fits, PAGE);
      if (found === null) {
        position = ring.head;
        yield { ...idOf(position), event: 'reset', data: {} };
        continue;
      }
      for (const one of found.changes) yield { ...idOf(one.position), event: 'change', data: told(one) };
      position = found.position;
      if (position === ring.head) await at.next(signal);
    }
  } finally {
    end();
  }
}

function filterOf({ principal, kinds, ids }: ChangesWanted): (change: KnownChange) => boolean {
  return (change) =>
    kinds.has(change.kind) && (ids === null || ids.has(change.id)) && isShownTo(principal, change);
}

const told = ({ change: { kind, id, operation, more } }: TurnedChange): object => ({
  kind,
  id,
  operation,
  ...more,
});
