import type { EgressSettings } from '../port';
import { parseEndpoint } from './endpoints';
import { ReachRefused, reachableAddress } from './reach';

const settings = (more: Partial<EgressSettings> = {}): EgressSettings => ({
  mode: 'restricted',
  allow: [],
  deny: [],
  ...more,
});
const at = (text: string) => [parseEndpoint(text)!];

it.each([
  ['metadata', '169.254.169.254', 'metadata'],
  ['metadata in the form of IPv6', '::ffff:169.254.169.254', 'metadata'],
  ['link-local of IPv6', 'fe80::1', 'link-local'],
  ['loopback', '127.0.0.1', 'machine of the worker'],
  ['another address of loopback', '127.9.9.9', 'machine of the worker'],
  ['no address', '0.0.0.0', 'machine of the worker'],
  ['loopback by its name', 'localhost', 'machine of the worker'],
  ['loopback of IPv6', '::1', 'machine of the worker'],
])('%s is refused', async (_name, host, reason) => {
  const refused = reachableAddress(settings(), host, 22);
  await expect(refused).rejects.toThrow(ReachRefused);
  await expect(refused).rejects.toThrow(reason);
});

it('hosts of private networks are reached: agents live there', async () => {
  expect(await reachableAddress(settings(), '10.1.2.3', 22)).toBe('10.1.2.3');
});

it('what is allowed goes before what is refused, by port', async () => {
  const allowed = settings({ allow: at('127.0.0.1:2222') });
  expect(await reachableAddress(allowed, '127.0.0.1', 2222)).toBe('127.0.0.1');
  await expect(reachableAddress(allowed, '127.0.0.1', 22)).rejects.toThrow(ReachRefused);
});

it('named networks are refused, and with none everything that is not allowed', async () => {
  await expect(reachableAddress(settings({ deny: at('10.0.0.0/8') }), '10.1.2.3', 22)).rejects.toThrow(
    'DENY',
  );
  await expect(reachableAddress(settings({ mode: 'none' }), '10.1.2.3', 22)).rejects.toThrow('=none');
  expect(await reachableAddress(settings({ mode: 'open' }), '127.0.0.1', 22)).toBe('127.0.0.1');
});
