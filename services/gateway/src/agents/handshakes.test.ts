import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { createHandshakes } from './handshakes';

class FakeSocket extends EventEmitter {
  isGone = false;
  constructor(
    readonly remoteAddress: string,
    readonly nth: number,
  ) {
    super();
  }
  destroy(): void {
    this.isGone = true;
    this.emit('close');
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const settings = { perSecond: 45, burst: 5, maxWaiting: 400, maxOfAddress: 300 };
function gate() {
  const begun: FakeSocket[] = [];
  const handshakes = createHandshakes(
    settings,
    (socket) => void begun.push(socket as unknown as FakeSocket),
    () => performance.now(),
  );
  const come = (address: string, count: number): FakeSocket[] =>
    Array.from({ length: count }, (_, i) => {
      const socket = new FakeSocket(address, i);
      handshakes.add(socket as unknown as Socket);
      return socket;
    });
  return { begun, handshakes, come };
}

test('a few pass at once, at most fifty in the first second, and then no timer runs', () => {
  const { begun, come } = gate();
  come('a', 150);
  expect(begun).toHaveLength(5);
  jest.advanceTimersByTime(1_000);
  expect(begun.length).toBeGreaterThanOrEqual(47);
  expect(begun.length).toBeLessThanOrEqual(50);
  jest.advanceTimersByTime(2_400);
  expect([begun.length, jest.getTimerCount()]).toEqual([150, 0]);
});

test('addresses take turns: one with many connections does not keep another out', () => {
  const { begun, come } = gate();
  come('flood', 300);
  come('agent', 2);
  jest.advanceTimersByTime(150);
  expect(begun.filter(({ remoteAddress }) => remoteAddress === 'agent')).toHaveLength(2);
});

test('those beyond the bounds are closed, and one that leaves is not begun', () => {
  const { begun, come, handshakes } = gate();
  const flood = come('flood', 400);
  expect(flood.filter(({ isGone }) => isGone)).toHaveLength(95);
  const other = come('other', 150);
  expect(other.filter(({ isGone }) => isGone)).toHaveLength(50);
  other[0]!.destroy();
  jest.advanceTimersByTime(20_000);
  expect(begun.includes(other[0]!)).toBe(false);
  expect(handshakes.waiting()).toBe(0);
});
