import { aboutOf, byDeployment, certificateState, wordOf } from './agent-state';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-27T08:00:00Z');
const certificate = (days: number, revoked_at: string | null = null) => ({
  serial: '01',
  expires_at: new Date(NOW + days * DAY_MS).toISOString(),
  revoked_at,
});
const agent = (state: string, is_connected: boolean, revoked_at: string | null = null) => ({
  state,
  is_connected,
  certificate: certificate(20, revoked_at),
});

test('a started agent without a stream is told from one with a stream', () => {
  expect(wordOf(agent('started', true))).toBe('connected');
  expect(wordOf(agent('started', false))).toBe('away');
  expect(wordOf(agent('nonresponsive', false))).toBe('nonresponsive');
});

test('a revoked certificate outweighs the state of the record', () => {
  expect(wordOf(agent('started', true, '2026-11-27T07:00:00Z'))).toBe('revoked');
});

test('states of an installation: the host is at work, or the manager waits for its first connection', () => {
  expect(wordOf(agent('creating', false))).toBe('installing');
  expect(wordOf(agent('created', false))).toBe('waiting');
  expect(wordOf(agent('failed', false))).toBe('failed');
  expect(wordOf(agent('restored', false))).toBe('restored');
  expect(wordOf({ state: 'created', is_connected: false, certificate: null })).toBe('waiting');
});

test('a certificate warns when less than ten days are left', () => {
  expect(certificateState(null, NOW)).toBe('none');
  expect(certificateState(certificate(10), NOW)).toBe('good');
  expect(certificateState(certificate(9.99), NOW)).toBe('soon');
  expect(certificateState(certificate(0), NOW)).toBe('expired');
  expect(certificateState(certificate(20, '2026-11-27T07:00:00Z'), NOW)).toBe('revoked');
});

test('what an agent says of itself is read whatever its form', () => {
  const all = aboutOf({
    hostname: 'vm-1',
    slots: 5,
    running: 'many',
    upgrade: { state: 'undone', reason: 7 },
  });
  expect(all).toMatchObject({ hostname: 'vm-1', slots: 5, running: null, system: null });
  expect(all.upgrade).toEqual({ version: '', state: 'undone', reason: null });
  expect(aboutOf(null).upgrade).toBeNull();
  expect(aboutOf({ upgrade: 'done' }).upgrade).toBeNull();
});

test('agents are grouped by deployment', () => {
  const rows = [
    { deployment_id: 'web', node_instance_id: 'vm_1' },
    { deployment_id: 'db', node_instance_id: 'vm_2' },
    { deployment_id: 'web', node_instance_id: 'vm_3' },
  ];
  expect(byDeployment(rows)).toEqual([
    ['web', ['vm_1', 'vm_3']],
    ['db', ['vm_2']],
  ]);
});
