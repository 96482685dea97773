import { agentsUrl } from './agents-url';

const card = (address: string, internal: boolean, family: 'IPv4' | 'IPv6' = 'IPv4') =>
  ({ address, internal, family }) as never;
const machine = {
  lo: [card('127.0.0.1', true)],
  eth0: [card('fe80::1', false, 'IPv6'), card('10.0.0.7', false)],
};
const at = (host: string, port = 8080) => ({ BATON_HOST: host, BATON_PORT: port });

test.each([
  ['127.0.0.1', {}, 'http://127.0.0.1:8080'],
  ['0.0.0.0', {}, 'http://10.0.0.7:8080'],
  ['::', { BATON_HTTPS_CERT_FILE: '/x' }, 'https://10.0.0.7:8080'],
  ['fd00::5', {}, 'http://[fd00::5]:8080'],
])('a manager at %s is reached by hosts at its own address', (host, env, url) => {
  expect(agentsUrl(at(host), env, machine)).toBe(url);
});

test('a machine without a network has loopback, and a port that is not known yet has no address', () => {
  expect(agentsUrl(at('0.0.0.0'), {}, {})).toBe('http://127.0.0.1:8080');
  expect(agentsUrl(at('127.0.0.1', 0), {}, machine)).toBeUndefined();
});
