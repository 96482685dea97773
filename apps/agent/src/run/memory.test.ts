import { keepSmall } from './memory';

/** Something that only a collection of garbage removes. */
const garbage = (): WeakRef<object> => new WeakRef(Array.from({ length: 100_000 }, (_, i) => ({ i })));

it('gives memory back while nothing runs', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const end = keepSmall(() => true);
  try {
    const left = garbage();
    // A reference is cleared after the turn that has looked at it.
    await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(5_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(left.deref()).toBeUndefined();
  } finally {
    end();
    jest.useRealTimers();
  }
});
