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
    'c',
    'Cookie',
    'd',
    'X-Bypass-Maintenance',
    'True',
  ]);
  expect(forwarded).toEqual([
    'content-type',
    'application/json',
    'cookie',
    'c',
    'cookie',
    'd',
    'x-request-id',
    'mine',
  ]);
  expect(found).toEqual({
    originalUri: '',
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
