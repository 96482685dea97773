import { Secret, systemClock } from '@baton/kernel';
import { derivedTrust, signToken } from '@baton/trust';
import { signPrincipal, verifyPrincipal } from './index';
import { ann, key } from './testing/ann';

const reader = { service: 'catalog', bundle: derivedTrust('catalog', key).bundle } as const;
const refusal = expect.objectContaining({ code: 'unauthorized_error' });
const after = (s: number) => ({ now: () => systemClock.now() + s * 1000, monotonic: () => 0 });
const { identity } = derivedTrust('gateway', key);
const made = (claims: object, by = identity) => signToken('baton-principal', by.key(), { p: ann, ...claims });

test('a header of another key, or past its minute and the 5 s by which clocks may differ, is refused', () => {
  const other = derivedTrust('gateway', new Secret('another key')).identity;
  const foreign = signPrincipal({ ...ann }, other, 'catalog');
  expect(() => verifyPrincipal(foreign, reader)).toThrow(refusal);
  const fresh = signPrincipal({ ...ann }, identity, 'catalog');
  expect(verifyPrincipal(fresh, reader, after(63))).toEqual(ann);
  // An expired header is refused also when it was verified before.
  expect(() => verifyPrincipal(fresh, reader, after(66))).toThrow(refusal);
});

test('only the gateway says who calls, to one service, for a minute', () => {
  const now = Math.floor(systemClock.now() / 1000);
  const good = { iss: 'gateway', aud: 'catalog', iat: now, exp: now + 60 };
  expect(verifyPrincipal(made(good), reader)).toEqual(ann);
  const thirtyYears = now + 30 * 365 * 86_400;
  for (const claims of [
    { ...good, exp: thirtyYears },
    { ...good, iat: thirtyYears - 60, exp: thirtyYears },
    { ...good, exp: now + 61 },
    { ...good, iat: undefined },
    { ...good, exp: undefined },
    { ...good, iat: now - 310, exp: now - 250 },
    { ...good, aud: 'secrets' },
    { ...good, iss: 'executions' },
  ])
    expect(() => verifyPrincipal(made(claims), reader)).toThrow(refusal);
  const executions = derivedTrust('executions', key).identity;
  expect(() => verifyPrincipal(made({ ...good, iss: 'executions' }, executions), reader)).toThrow(refusal);
  expect(() => verifyPrincipal(made(good, executions), reader)).toThrow(refusal);
});

test('a service is told the permissions that services ask for, so that the header stays short', () => {
  const holder = { ...ann, permissions: ['deployment_list', 'all_tenants', 'deployment_set_site'] };
  const { permissions } = verifyPrincipal(signPrincipal(holder, identity, 'catalog'), reader);
  expect(permissions).toEqual(['deployment_list', 'all_tenants']);
});
