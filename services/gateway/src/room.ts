/** Limits the requests that one gateway handles at the same time, and the share of one user, tenant or address. */
import { AppError } from '@baton/kernel';
import { tooMany } from './too-many';

export interface RoomSettings {
  /** Requests at the same time, event streams not counted. */
  maxConcurrent: number;
  maxStreams: number;
}

/** One request from its first line to the end of its answer. */
export interface Visit {
  /**
   * From now on the request counts for this user and tenant (empty: none), and no longer for its address.
   * @throws AppError too_many_requests_error when the user or the tenant has its share already.
   */
  identify(user: string, tenant: string): void;
  /** Takes a place inside: the caller is known and a short body has arrived. @throws AppError service_unavailable_error */
  enter(): void;
  leave(): void;
}

export interface Room {
  /** Counts a new request as waiting. @throws AppError too_many_requests_error, service_unavailable_error */
  arrive(address: string, kind: { isStream: boolean; isChange: boolean }): Visit;
  /** Number of all present requests: waiting, inside, and streams. */
  count(): number;
  /** Number of present requests that may change something. */
  changes(): number;
}

/** Smallest share: a small gateway limits nobody to less than this. */
const LEAST_PART = 16;
/** Shares of the places inside. Many users may share one address: the address counts only until the caller is known. */
const PARTS = { address: 1, user: 1 / 4, tenant: 1 / 2 } as const;
/** Waiting requests for each place inside: they wait until their caller is known or their body has arrived. */
const WAITING_PER_PLACE = 4;

interface Share {
  /** Requests that wait, requests inside, and streams. */
  waiting: number;
  inside: number;
  streams: number;
}

const NOTHING: Readonly<Share> = { waiting: 0, inside: 0, streams: 0 };

class Shares {
  readonly #of = new Map<string, Share>();
  constructor(readonly scope: keyof typeof PARTS) {}

  peek(name: string): Readonly<Share> {
    return this.#of.get(name) ?? NOTHING;
  }
  take(name: string): Share {
    let share = this.#of.get(name);
    if (!share) this.#of.set(name, (share = { waiting: 0, inside: 0, streams: 0 }));
    return share;
  }
  giveBack(name: string, share: Share): void {
    if (share.waiting + share.inside + share.streams === 0) this.#of.delete(name);
  }
}

const partOf = (scope: keyof typeof PARTS, all: number): number =>
  Math.max(LEAST_PART, Math.floor(PARTS[scope] * all));

/**
 * A request waits until its caller is known and its short body has arrived; then it takes a place inside. Nobody may have more than
 * his share of the waiting requests. Inside, the shares apply only when half of the places are taken: a single user may use half of
 * them.
 */
export function createRoom({ maxConcurrent, maxStreams }: RoomSettings): Room {
  const totals: Share = { waiting: 0, inside: 0, streams: 0 };
  const addresses = new Shares('address');
  const users = new Shares('user');
  const tenants = new Shares('tenant');
  const maxWaiting = Math.max(64, WAITING_PER_PLACE * maxConcurrent);
  let changes = 0;

  const check = (shares: Shares, name: string, isStream: boolean): void => {
    const { waiting, inside, streams } = shares.peek(name);
    const most = isStream ? maxStreams : maxConcurrent;
    const part = partOf(shares.scope, most);
    const isScarce = isStream ? totals.streams >= most / 2 : totals.inside >= most / 2;
    const isOver = isStream
      ? isScarce && streams >= part
      : waiting >= part || (isScarce && inside + waiting >= part);
    if (isOver)
      throw tooMany({
        scope: shares.scope,
        limit: part,
        what: isStream ? 'event streams at once' : 'requests at once',
      });
  };

  return {
    arrive(address, { isStream, isChange }) {
      if (totals.waiting >= maxWaiting) throw full();
      check(addresses, address, false);
      const visit = new OneVisit(totals, { addresses, users, tenants }, address, isStream, {
        check,
        enter: () => {
          if (isStream ? totals.streams >= maxStreams : totals.inside >= maxConcurrent) throw full();
        },
      });
      if (isChange) changes += 1;
      visit.onLeave = () => {
        if (isChange) changes -= 1;
      };
      return visit;
    },
    count: () => totals.waiting + totals.inside + totals.streams,
    changes: () => changes,
  };
}

const full = (): AppError =>
  new AppError(
    'service_unavailable_error',
    'The manager has too many requests at once; try again in a second',
  );

type Place = keyof Share;

class OneVisit implements Visit {
  onLeave: () => void = () => undefined;
  #place: Place = 'waiting';
  #isInside = true;
  #held: { shares: Shares; name: string; share: Share }[] = [];

  constructor(
    private readonly totals: Share,
    private readonly all: { addresses: Shares; users: Shares; tenants: Shares },
    address: string,
    private readonly isStream: boolean,
    private readonly rules: {
      check(shares: Shares, name: string, isStream: boolean): void;
      enter(): void;
    },
  ) {
    totals.waiting += 1;
    this.#hold(all.addresses, address);
  }

  #hold(shares: Shares, name: string): void {
    const share = shares.take(name);
    share[this.#place] += 1;
    this.#held.push({ shares, name, share });
  }
  #release(): void {
    for (const { shares, name, share } of this.#held) {
      share[this.#place] -= 1;
      shares.giveBack(name, share);
    }
    this.#held = [];
  }
  identify(user: string, tenant: string): void {
    const { users, tenants } = this.all;
    this.rules.check(users, user, this.isStream);
    if (tenant !== '') this.rules.check(tenants, tenant, this.isStream);
    if (!this.#isInside) return;
    this.#release();
    this.#hold(users, user);
    if (tenant !== '') this.#hold(tenants, tenant);
  }
  enter(): void {
    this.rules.enter();
    if (!this.#isInside) return;
    const place: Place = this.isStream ? 'streams' : 'inside';
    for (const share of [this.totals, ...this.#held.map((held) => held.share)]) {
      share[this.#place] -= 1;
      share[place] += 1;
    }
    this.#place = place;
  }
  leave(): void {
    if (!this.#isInside) return;
    this.#isInside = false;
    this.totals[this.#place] -= 1;
    this.#release();
    this.onLeave();
  }
}
