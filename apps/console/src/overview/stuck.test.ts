import type { WaitReason } from '../api/answers';
import { stuckReason } from './stuck';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const reason = (kind: WaitReason['kind'], since: string | null = null): WaitReason => ({
  kind,
  message: kind,
  since,
  until: null,
  details: {},
});

test('an operation that runs is work, not standstill', () =>
  expect(stuckReason([reason('lease', '2026-01-01T11:59:00Z'), reason('share')], NOW_MS)).toBeNull());

test('an operation that runs for long is said', () =>
  expect(stuckReason([reason('lease', '2026-01-01T11:00:00Z')], NOW_MS)?.kind).toBe('lease'));

test('the first reason is the one to read', () =>
  expect(stuckReason([reason('worker'), reason('share')], NOW_MS)?.kind).toBe('worker'));

test('without a reason it moves', () => expect(stuckReason([], NOW_MS)).toBeNull());
