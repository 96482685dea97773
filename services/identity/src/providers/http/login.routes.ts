import { sessionCookie } from '@baton/contracts';
import { loginRoutes } from '@baton/contracts/http/login';
import { answer, type BoundRoute, bindRoutes, cameOverHttps, type HttpCall, originOf } from '@baton/http';
import { badParameter, notFound } from '@baton/kernel';
import type { OidcClient } from '../adapters/oidc-client';
import { openProviderSession, type SignInDeps } from '../commands/sign-in';
import {
  attemptCookie,
  endedAttemptCookie,
  type LoginAttempt,
  newAttempt,
  openAttempt,
  readAttemptCookie,
  safeReturn,
  sealAttempt,
} from '../domain/login-attempt';
import { LoginFailure, type LoginFailureCode } from '../domain/login-failure';
import { providerToSignIn, publicProviders } from '../queries/read-providers';

export interface LoginDeps extends SignInDeps {
  oidc: OidcClient;
  nowMs: () => Promise<number>;
}

type CallbackCall = HttpCall<unknown, { state?: string | undefined }>;

const NO_STORE = { 'cache-control': 'no-store' } as const;

export function loginHttp(deps: LoginDeps): BoundRoute[] {
  return bindRoutes(loginRoutes, {
    listLoginProviders: async () => ({ items: await publicProviders(deps) }),
    beginOidcLogin: (call) => begin(deps, call),
    endOidcLogin: (call) => end(deps, call),
  });
}

/** Leads the browser to the provider. */
async function begin(deps: LoginDeps, call: HttpCall<unknown, { return_to?: string | undefined }>) {
  const id = call.params.provider_id!;
  const provider = await providerToSignIn(deps, id);
  if (!provider) throw notFound('IdentityProvider', id);
  const redirectUri = callbackOf(call, id);
  const returnTo = safeReturn(call.query.return_to);
  const attempt = newAttempt({ provider: id, redirectUri, returnTo }, await deps.nowMs());
  const isHttps = cameOverHttps(call.headers);
  try {
    const location = await deps.oidc.authorizationUrl(provider, attempt);
    return answer({
      headers: {
        ...NO_STORE,
        location,
        'set-cookie': attemptCookie(sealAttempt(deps.sealer, attempt), isHttps),
      },
    });
  } catch (error) {
    return refused(call, error);
  }
}

/** Takes the browser back from the provider; every end is a redirect to the console. */
async function end(deps: LoginDeps, call: CallbackCall) {
  try {
    const attempt = await attemptOf(deps, call);
    const provider = await providerToSignIn(deps, attempt.provider);
    if (!provider) throw new LoginFailure('no_provider', `provider ${attempt.provider} is gone or disabled`);
    const url = new URL(attempt.redirectUri);
    url.search = new URL(call.raw.url!, 'https://manager.invalid').search;
    const signedIn = await deps.oidc.redeem(provider, attempt, url);
    const { username, secret } = await openProviderSession(deps, provider, {
      state: attempt.state,
      signedIn,
      // From there on the request belongs to this user, also in the audit log.
      onUser: (name) => {
        call.principal = { ...call.principal, username: name };
      },
    });
    call.log.info({ provider: provider.id, username }, 'signed in at a provider');
    const isHttps = cameOverHttps(call.headers);
    return answer({
      headers: {
        ...NO_STORE,
        location: attempt.returnTo,
        'set-cookie': [sessionCookie(secret.expose(), isHttps), endedAttemptCookie(isHttps)],
      },
    });
  } catch (error) {
    return refused(call, error);
  }
}

/** @throws LoginFailure unless this browser began the attempt, at this provider, and it is not over */
async function attemptOf(deps: LoginDeps, call: CallbackCall): Promise<LoginAttempt> {
  const cookie = readAttemptCookie(call.headers.cookie, cameOverHttps(call.headers));
  const { state } = call.query;
  if (cookie === null || state === undefined)
    throw new LoginFailure('expired', 'the browser has no attempt, or the provider gave no state');
  const asked = { provider: call.params.provider_id!, state, nowMs: await deps.nowMs() };
  const attempt = openAttempt(deps.sealer, cookie, asked);
  if (attempt === null)
    throw new LoginFailure('expired', 'the attempt is over, or of another browser or provider');
  return attempt;
}

/** Address of the callback as the provider knows it. @throws AppError when the gateway could not read its own address */
function callbackOf(call: HttpCall, id: string): string {
  const origin = originOf(call.headers);
  if (origin === '') throw badParameter('Host', 'The address of the manager cannot be read from the request');
  return `${origin}/api/v3.1/login/oidc/${id}/callback`;
}

/** Leads to the page of the sign-in, which shows a text for the code. The reason is for administrators. */
function refused(call: HttpCall, error: unknown) {
  if (!(error instanceof LoginFailure)) throw error;
  call.log.warn(
    { provider: call.params.provider_id, code: error.code, reason: error.reason },
    'sign-in at a provider refused',
  );
  return answer({
    headers: {
      ...NO_STORE,
      location: failureLocation(error.code),
      'set-cookie': endedAttemptCookie(cameOverHttps(call.headers)),
    },
  });
}

const failureLocation = (code: LoginFailureCode): string => `/ui/#sign-in=${code}`;
