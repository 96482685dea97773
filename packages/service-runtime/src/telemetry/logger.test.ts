import { Secret } from '@baton/kernel';
import { createLogger } from '..';

test('lines carry level names, service and fields; secrets are not printed', () => {
  const lines: string[] = [];
  const log = createLogger({
    service: 'catalog',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  });
  log.debug({}, 'quiet');
  log
    .child({ requestId: 'r1' })
    .info(
      { user: { password: 'p1' }, a: { b: { token: 't1' } }, value: 'v1', key: new Secret('s1') },
      'written',
    );
  log.error({ err: new Error('boom') }, 'failed');
  expect(lines).toHaveLength(2);
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    level: 'info',
    service: 'catalog',
    requestId: 'r1',
    message: 'written',
    user: { password: '[redacted]' },
    a: { b: { token: '[redacted]' } },
    value: '[redacted]',
    key: '[redacted]',
  });
  expect(second.err.stack).toContain('logger.test');
});
