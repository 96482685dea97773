import type { Principal } from '@baton/contracts';
import { type AskedDeviceLogin, deviceLoginRoutes } from '@baton/contracts/http/device-login';
import { addressOf, answer, type BoundRoute, bindRoutes, type HttpCall, originOf } from '@baton/http';
import { AppError, badParameter } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { DB as Tables } from '../../store/tables.gen';
import { beginLogin } from '../commands/begin-login';
import { approveLogin, denyLogin, type Judge, lookUpLogin, type ShownLogin } from '../commands/judge-login';
import { redeemLogin } from '../commands/redeem-login';
import { INTERVAL_S, LOGIN_MS } from '../domain/device-login';
import { type CodeHash, shownCode } from '../domain/user-code';

interface DeviceLoginDeps {
  db: Db<Tables>;
  codeHash: CodeHash;
  deviceTokenLifeMs: number;
  nowMs: () => Promise<number>;
}

const NO_STORE = { 'cache-control': 'no-store' } as const;

export function deviceLoginHttp(deps: DeviceLoginDeps): BoundRoute[] {
  return bindRoutes(deviceLoginRoutes, {
    beginDeviceLogin: async (call) => {
      const page = pageOf(call);
      const { deviceCode, userCode } = await beginLogin(deps, call.body.client_name, addressOf(call.headers));
      const shown = shownCode(userCode);
      return answer({
        headers: NO_STORE,
        body: {
          device_code: deviceCode.expose(),
          user_code: shown,
          verification_uri: page,
          verification_uri_complete: `${page}#user_code=${shown}`,
          expires_in: LOGIN_MS / 1000,
          interval: INTERVAL_S,
        },
      });
    },
    redeemDeviceLogin: async (call) => {
      const { username, tokenId, value, lifeMs, expirationDate } = await redeemLogin(
        deps,
        call.log,
        call.body.device_code,
        // From there on the request belongs to this user, also in the audit log.
        (name) => {
          call.principal = { ...call.principal, username: name };
        },
      );
      return answer({
        headers: NO_STORE,
        body: {
          access_token: value,
          token_type: 'N_A' as const,
          expires_in: lifeMs / 1000,
          token_id: tokenId,
          username,
          expiration_date: expirationDate,
        },
      });
    },
    getDeviceLogin: async (call) =>
      present(call, await lookUpLogin(deps, judgeOf(call.principal), call.body.user_code)),
    approveDeviceLogin: async (call) =>
      present(call, await approveLogin(deps, judgeOf(call.principal), call.body.user_code)),
    denyDeviceLogin: async (call) =>
      present(call, await denyLogin(deps, judgeOf(call.principal), call.body.user_code)),
  });
}

/** Page of the console for codes. @throws AppError when the gateway could not read its own address */
function pageOf(call: HttpCall): string {
  const origin = originOf(call.headers);
  if (origin === '') throw badParameter('Host', 'The address of the manager cannot be read from the request');
  return `${origin}/device`;
}

/**
 * Only a person with a browser decides: a program that holds a token, or a password, must not make further tokens of its own by this
 * way.
 * @throws AppError forbidden_error
 */
function judgeOf({ userId, sessionId, authMethod }: Principal): Judge {
  if (authMethod === 'session' && sessionId !== undefined) return { userId, sessionId };
  throw new AppError(
    'forbidden_error',
    'Only a person who is signed in with a browser decides about logins',
    {
      expected: 'the session of a browser, on the page /device',
    },
  );
}

function present(call: HttpCall, row: ShownLogin) {
  const address = addressOf(call.headers);
  const body: AskedDeviceLogin = { ...row, is_same_address: address !== '' && address === row.address };
  return answer({ headers: NO_STORE, body });
}
