import { endedSessionCookie, type Principal, sessionCookie } from '@baton/contracts';
import { sessionRoutes } from '@baton/contracts/http/session';
import { answer, type BoundRoute, bindRoutes, cameOverHttps, type HttpCall } from '@baton/http';
import { badParameter } from '@baton/kernel';
import { closeSession, openSession, type SignInProof } from '../commands/sessions';
import { noSession, rejected } from '../domain/login-refusals';
import { type AuthenticateDeps, authenticateCode, authenticatePassword } from '../queries/authenticate';
import { describeSession } from '../queries/session';

export interface SessionDeps extends AuthenticateDeps {
  sessionLifeMs: number;
}

interface SignInBody {
  username?: string;
  password?: string;
  code?: string;
}

export function sessionHttp(deps: SessionDeps): BoundRoute[] {
  return bindRoutes(sessionRoutes, {
    openSession: async (call) => {
      const { principal, proof } = await signedIn(deps, call);
      // From here on the request belongs to this user, also in the audit log.
      call.principal = principal;
      const { id, secret } = await openSession(deps, principal.userId, proof);
      return answer({
        headers: { 'set-cookie': sessionCookie(secret.expose(), cameOverHttps(call.headers)) },
        body: await describeSession(deps, { ...principal, sessionId: id }),
      });
    },
    getSession: ({ principal, query }) => describeSession(deps, principal, query.tenant_name),
    closeSession: async (call) => {
      const { sessionId, username } = call.principal;
      if (sessionId === undefined) throw noSession();
      await closeSession(deps, sessionId, username);
      const cookie = endedSessionCookie(cameOverHttps(call.headers));
      return answer({ status: 204, headers: { 'set-cookie': cookie } });
    },
  });
}

/**
 * Checks the credential in the body.
 * @throws AppError bad_parameters_error unless the body is one credential; unauthorized_error
 */
async function signedIn(
  deps: SessionDeps,
  call: HttpCall<SignInBody>,
): Promise<{ principal: Principal; proof: SignInProof }> {
  const { username, password, code } = call.body;
  const isAlone = username === undefined && password === undefined;
  if (code !== undefined && isAlone) {
    const { principal, codeId } = await authenticateCode(deps, code);
    return { principal, proof: { codeId } };
  }
  if (code !== undefined || username === undefined || password === undefined)
    throw badParameter('', 'Either `username` and `password`, or `code` must be given', {
      expected: 'username and password, or code',
    });
  // The gateway's login guard has already checked this user. Another name means that the request went around the guard.
  if (call.principal.username.toLowerCase() !== username.toLowerCase()) throw rejected();
  const scope = { tenant: '', allTenantsPermission: '' };
  const { principal, passwordHash } = await authenticatePassword(deps, { username, password }, scope);
  return { principal, proof: { passwordHash } };
}
