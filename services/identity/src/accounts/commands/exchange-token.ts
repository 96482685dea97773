import { isoInstant, type Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { storeToken } from '../../commands/tokens';
import { isName } from '../../domain/checks';
import { unauthorized } from '../../domain/login-refusals';
import { ProviderUnreached } from '../../providers/adapters/provider-fetch';
import type { DB as Tables } from '../../store/tables.gen';
import { WorkloadRefused, type WorkloadTokens } from '../adapters/workload-tokens';
import { fitsSubject } from '../domain/trust';
import { type AccountRow, findAccount } from '../store/accounts.sql';

/** Life of an exchanged token. */
const EXCHANGED_MS = 15 * 60_000;

interface Deps {
  db: Db<Tables>;
  workloads: WorkloadTokens;
  nowMs: () => Promise<number>;
}

export interface Exchanged {
  username: string;
  value: string;
  lifeMs: number;
}

/** One text for every refusal: it shows neither which accounts exist nor what they trust. The log has the reason. */
const refused = () => unauthorized('The token of the workload is not accepted for this service account');

/**
 * Exchanges the JWT of a workload for a token of a service account that trusts it (RFC 8693). The JWT can be exchanged again until
 * it ends: it is a credential of its bearer, as at every issuer of workloads.
 * @throws AppError unauthorized_error
 */
export async function exchangeToken(
  deps: Deps,
  log: Log,
  wish: { token: string; account: string },
): Promise<Exchanged> {
  const account = isName(wish.account) ? await findAccount(deps.db.query, wish.account) : undefined;
  const subject = account && (await trustedSubject(deps, log, account, wish.token));
  if (!account || subject == null) {
    log.warn({ account: wish.account }, 'token of a workload refused');
    throw refused();
  }
  const expirationDate = isoInstant((await deps.nowMs()) + EXCHANGED_MS);
  const { value } = await storeToken(deps, account.user_id, {
    description: `exchanged for ${subject}`.slice(0, 1_024),
    expirationDate,
    isSession: true,
  });
  log.info({ account: account.name, subject }, 'token of a workload exchanged');
  return { username: account.name, value, lifeMs: EXCHANGED_MS };
}

/** Returns the subject of a token that one rule of the account trusts; null: none does. */
async function trustedSubject(
  { workloads }: Deps,
  log: Log,
  account: AccountRow,
  token: string,
): Promise<string | null> {
  if (!account.active) return null;
  const issuer = await workloads.issuerOf(token);
  // Nobody is asked for keys whom no administrator has named.
  for (const rule of account.trust.filter((one) => one.issuer === issuer)) {
    try {
      const subject = await workloads.subjectOf(token, rule);
      if (fitsSubject(rule, subject)) return subject;
    } catch (error) {
      if (!(error instanceof WorkloadRefused || error instanceof ProviderUnreached)) throw error;
      log.info({ account: account.name, issuer, reason: error.message }, 'rule of trust does not fit');
    }
  }
  return null;
}
