import type { Db } from '@baton/postgres';
import { recordActivity } from '../store/authentication.sql';
import type { DB as Tables } from '../store/tables.gen';

/**
 * Collects the latest uses of tokens and sessions and the latest logins of users in memory, and writes them every few seconds in
 * one statement each: a write for each request would cost more than the request. A crash loses the last seconds, and a session then
 * ends earlier by that time.
 */
export interface Activity {
  tokenUsed(tokenId: string, at: string): void;
  sessionUsed(sessionId: string, at: string): void;
  loggedIn(userId: number, at: string): void;
  flush(): Promise<void>;
}

const MAX_GATHERED = 10_000;

const nothing = () => ({
  tokens: new Map<string, string>(),
  sessions: new Map<string, string>(),
  logins: new Map<number, string>(),
});

export function createActivity(db: Db<Tables>): Activity {
  let gathered = nothing();
  const note = <K>(map: Map<K, string>, key: K, at: string): void => {
    if (map.size < MAX_GATHERED || map.has(key)) map.set(key, at);
  };
  return {
    tokenUsed: (tokenId, at) => note(gathered.tokens, tokenId, at),
    sessionUsed: (sessionId, at) => note(gathered.sessions, sessionId, at),
    loggedIn: (userId, at) => note(gathered.logins, userId, at),
    flush: async () => {
      const uses = gathered;
      gathered = nothing();
      await recordActivity(db, uses);
    },
  };
}
