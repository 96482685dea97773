import { isAppError } from '@baton/kernel';
import { type BrowserRequest, crossSiteFault, requireOwnSite } from './cross-site';

const OWN = 'https://manager.example:8443';
const console: BrowserRequest = {
  method: 'POST',
  origin: OWN,
  fetchSite: 'same-origin',
  marker: '1',
  ownOrigin: OWN,
};
const fieldOf = (some: Partial<BrowserRequest>, needsMarker = true): string | null =>
  crossSiteFault({ ...console, ...some }, needsMarker)?.field ?? null;

test.each<[string, Partial<BrowserRequest>]>([
  ['of the console', {}],
  ['of a browser without fetch metadata', { fetchSite: '' }],
  ['of a client that is no browser', { origin: '', fetchSite: '' }],
  ['with the host in capitals', { origin: 'HTTPS://Manager.Example:8443' }],
])('a change %s passes', (_what, some) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect(fieldOf({ ...some, method })).toBeNull();
});

test.each<[string, Partial<BrowserRequest>, string]>([
  ['without the header', { marker: '' }, 'x-baton-request'],
  ['with another value of it', { marker: 'yes' }, 'x-baton-request'],
  ['without the header and without Origin', { marker: '', origin: '', fetchSite: '' }, 'x-baton-request'],
  ['of another site', { origin: 'https://evil.example' }, 'Origin'],
  ['of another port', { origin: 'https://manager.example' }, 'Origin'],
  ['of the same host without TLS', { origin: 'http://manager.example:8443' }, 'Origin'],
  ['of a host that begins alike', { origin: `${OWN}.evil.example` }, 'Origin'],
  ['of a sandboxed frame', { origin: 'null' }, 'Origin'],
  ['where the own origin cannot be told', { ownOrigin: '' }, 'Origin'],
  ['that the browser calls cross-site', { fetchSite: 'cross-site' }, 'Sec-Fetch-Site'],
  ['of a sibling host', { origin: '', fetchSite: 'same-site' }, 'Sec-Fetch-Site'],
  ['that nobody has made', { origin: '', fetchSite: 'none' }, 'Sec-Fetch-Site'],
  ['with an unknown word', { fetchSite: 'x' }, 'Sec-Fetch-Site'],
])('a change %s is refused', (_what, some, field) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get'])
    expect(fieldOf({ ...some, method })).toBe(field);
});

test.each<[string, Partial<BrowserRequest>, string | null]>([
  ['of the console', { origin: '', marker: '' }, null],
  ['of a bookmark', { origin: '', marker: '', fetchSite: 'none' }, null],
  ['of a client that is no browser', { origin: '', marker: '', fetchSite: '' }, null],
  ['of another site', { origin: '', fetchSite: 'cross-site' }, 'Sec-Fetch-Site'],
  ['of a sibling host', { origin: '', fetchSite: 'same-site' }, 'Sec-Fetch-Site'],
  ['of a script elsewhere', { origin: 'https://evil.example', fetchSite: '' }, 'Origin'],
])('a read %s: %p, refused by %p', (_what, some, field) => {
  for (const method of ['GET', 'HEAD']) expect(fieldOf({ ...some, method })).toBe(field);
});

test('a sign-in needs no header of ours, and comes from no other site', () => {
  expect(fieldOf({ marker: '' }, false)).toBeNull();
  expect(fieldOf({ marker: '', origin: '', fetchSite: '' }, false)).toBeNull();
  expect(fieldOf({ marker: '', origin: 'https://evil.example' }, false)).toBe('Origin');
  expect(fieldOf({ marker: '', origin: '', fetchSite: 'cross-site' }, false)).toBe('Sec-Fetch-Site');
});

test('the refusal has a code of its own, and says which header was expected to say what', () => {
  expect(() => requireOwnSite(console, true)).not.toThrow();
  try {
    requireOwnSite({ ...console, origin: 'https://evil.example' }, true);
    throw new Error('not refused');
  } catch (error) {
    expect(isAppError(error, 'cross_site_request_error')).toBe(true);
    expect(error).toMatchObject({
      message: expect.stringContaining('BATON_TRUSTED_PROXIES'),
      details: { field: 'Origin', expected: OWN },
    });
  }
});
