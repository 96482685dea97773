import { createRequestIds, readHeaders as read } from './request-headers';

const readHeaders = (raw: string[]) => read(raw, createRequestIds());

test.each(['Tenant', 'Authorization', 'Authentication-Token', 'Execution-Token', 'Host', 'X-Original-Uri'])(
  'a second %s is refused',
  (name) => {
    expect(() => readHeaders([name, 'a', 'Accept', 'x', name.toLowerCase(), 'a'])).toThrow(
      expect.objectContaining({
        code: 'bad_parameters_error',
        details: expect.objectContaining({ field: name.toLowerCase() }),
      }),
    );
  },
);

test('credentials, tenant, identity and headers of the connection stay behind', () => {
  const { forwarded, ...found } = readHeaders([
    'Host',
    'h',
    'Connection',
    'keep-alive',
    'Tenant',
    't',
    'Authorization',
    'Basic x',
    'Execution-Token',
    'e',
    'Authentication-Token',
    'a',
    'X-Baton-Principal',
    'forged',
    'x_baton_principal',
    'forged',
    'X-Forwarded-For',
    '1.2.3.4',
    'Transfer-Encoding',
    'chunked',
    'Content-Type',
    'application/json',
    'X-Request-Id',
    'mine',
    'Cookie',
    'c=1; baton_session=secret',
    'Cookie',
    'd',
    'Origin',
    'https://m.example',
    'Sec-Fetch-Site',
    'same-origin',
    'X-Baton-Request',
    '1',
    'X-Bypass-Maintenance',
    'True',
  ]);
  expect(forwarded).toEqual([
    'content-type',
    'application/json',
    'origin',
    'https://m.example',
    'sec-fetch-site',
    'same-origin',
    'x-request-id',
    'mine',
    'cookie',
    'c=1; d',
  ]);
  expect(found).toEqual({
    originalUri: '',
    cookie: 'c=1; baton_session=secret; d',
    origin: 'https://m.example',
    fetchSite: 'same-origin',
    marker: '1',
    tenant: 't',
    authorization: 'Basic x',
    authenticationToken: 'a',
    executionToken: 'e',
    requestId: 'mine',
    contentLength: -1,
    isChunked: true,
    bypassesMaintenance: true,
  });
});

test('a request id that could forge a log line is replaced', () => {
  expect(readHeaders(['x-request-id', 'a b']).requestId).toMatch(/^[0-9a-f-]{36}-1$/);
  expect(readHeaders(['x-request-id', 'x'.repeat(129)]).requestId).toMatch(/^[0-9a-f-]{36}-1$/);
});
