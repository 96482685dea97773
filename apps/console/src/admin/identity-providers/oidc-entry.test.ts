import type { OidcProvider } from './identity-providers';
import { bodyOf, entryOf, faultsOf, NEW_OIDC } from './oidc-entry';

const stored = {
  name: 'Our company',
  issuer: 'https://idp.example.org',
  client_id: 'baton',
  scopes: ['openid', 'groups'],
  parameters: { prompt: 'consent' },
  claims: { username: 'preferred_username', groups: 'groups', strip_suffix: '@example.org' },
  provision: 'preexisting',
  ca_certificate: null,
} as unknown as OidcProvider;

test('what is stored comes back unchanged, and no secret is sent that nobody typed', () => {
  expect(bodyOf(entryOf(stored))).toEqual({
    name: 'Our company',
    issuer: 'https://idp.example.org',
    client_id: 'baton',
    scopes: ['openid', 'groups'],
    parameters: { prompt: 'consent' },
    claims: { username: 'preferred_username', groups: 'groups', strip_suffix: '@example.org' },
    provision: 'preexisting',
    ca_certificate: null,
  });
  expect(bodyOf({ ...entryOf(stored), clientSecret: ' with a space' })).toMatchObject({
    client_secret: ' with a space',
  });
});

test('an emptied suffix and an emptied certificate are taken away', () => {
  const body = bodyOf({ ...entryOf(stored), stripSuffix: ' ', caCertificate: '\n' });
  expect(body.claims).toEqual({ username: 'preferred_username', groups: 'groups' });
  expect(body.ca_certificate).toBeNull();
});

test('scopes without openid and half parameters are told at their fields', () => {
  expect(faultsOf({ ...NEW_OIDC, scopes: 'profile', parameters: [['prompt', '']] })).toEqual({
    scopes: 'openid is missing.',
    'parameters[0]': 'Each parameter needs a name and a value.',
  });
  expect(faultsOf(NEW_OIDC)).toEqual({});
});
