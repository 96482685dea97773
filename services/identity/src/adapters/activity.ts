import type { Db } from '@baton/postgres';
import { recordActivity } from '../store/authentication.sql';
import type { DB as Tables } from '../store/tables.gen';

/**
 * Latest uses of tokens and logins of users, gathered in memory and written every few seconds in one statement each:
 * a write per request would cost more than the request. A crash loses the last seconds, which nobody decides by.
 */
export interface Activity {
  tokenUsed(tokenId: string, at: string): void;
  loggedIn(userId: number, at: string): void;
  flush(): Promise<void>;
}

const MAX_GATHERED = 10_000;

export function createActivity(db: Db<Tables>): Activity {
  let tokens = new Map<string, string>();
  let logins = new Map<number, string>();
  const note = <K>(map: Map<K, string>, key: K, at: string): void => {
    if (map.size < MAX_GATHERED || map.has(key)) map.set(key, at);
  };
  return {
    tokenUsed: (tokenId, at) => note(tokens, tokenId, at),
    loggedIn: (userId, at) => note(logins, userId, at),
    flush: async () => {
      if (tokens.size === 0 && logins.size === 0) return;
      const [usedTokens, usedLogins] = [tokens, logins];
      tokens = new Map();
      logins = new Map();
      await recordActivity(db, usedTokens, usedLogins);
    },
  };
}
