import { ApiError, type Client, type ServerEvent } from '@baton/client';
import { createLive } from './live';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Fake streams that the test controls, by tenant. */
function rig() {
  const said: string[] = [];
  const opened: {
    tenant: string;
    signal: AbortSignal;
    tell(event: string, data?: object): void;
    refuse(status: number): void;
  }[] = [];
  const live = createLive({
    createClient: ({ tenant }) =>
      ({
        async *events(_route: string, _query: object, { signal }: { signal: AbortSignal }) {
          const waiting: (ServerEvent | Error)[] = [];
          let wake = (): void => undefined;
          const add = (one: ServerEvent | Error): void => {
            waiting.push(one);
            wake();
          };
          opened.push({
            tenant,
            signal,
            tell: (event, data = {}) => add({ id: null, event, data }),
            refuse: (status) => add(new ApiError(status, 'x', 'x', {}, null)),
          });
          while (!signal.aborted) {
            const next = waiting.shift();
            if (next instanceof Error) throw next;
            if (next) yield next;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        },
      }) as unknown as Client,
    onChanges: (tenant, changes) => said.push(`${tenant} ${changes.map(({ id }) => id).join()}`),
    onReset: (tenant) => said.push(`${tenant} reset`),
    onSignedOut: () => said.push('signed out'),
  });
  const settle = () => jest.advanceTimersByTimeAsync(0);
  return { live, opened, said, settle };
}

test('screens wait for the stream, and need not read again what they read behind its beginning', async () => {
  const { live, opened, said, settle } = rig();
  live.start('t');
  expect(live.view().begun).toBeNull();
  await settle();
  opened[0]!.tell('ready');
  await settle();
  expect([live.view().begun, said]).toEqual(['t', []]);
});

test('they do not wait for long; what they have read by then is read again', async () => {
  const { live, opened, said, settle } = rig();
  live.start('t');
  await jest.advanceTimersByTimeAsync(400);
  expect(live.view().begun).toBe('t');
  opened[0]!.tell('ready');
  await settle();
  expect(said).toEqual(['t reset']);
});

test('a stream that was started early is the one of the screen, and another tenant ends it', async () => {
  const { live, opened, said, settle } = rig();
  live.start('t');
  const leave = live.start('t');
  await settle();
  expect(opened.map(({ tenant }) => tenant)).toEqual(['t']);
  live.start('other');
  await settle();
  expect([opened[0]!.signal.aborted, opened.at(-1)!.tenant, live.view().begun]).toEqual([
    true,
    'other',
    null,
  ]);
  leave();
  opened.at(-1)!.tell('ready');
  opened.at(-1)!.tell('change', { kind: 'executions', id: 'e', operation: 'changed' });
  await settle();
  expect(said).toEqual(['other e']);
});

test('without a session nothing is listened to, until somebody starts again', async () => {
  const { live, opened, said, settle } = rig();
  live.start('t');
  await settle();
  opened[0]!.refuse(401);
  await settle();
  await jest.advanceTimersByTimeAsync(120_000);
  expect([said, opened.length, live.view().begun]).toEqual([['signed out'], 1, null]);
  live.start('t');
  await settle();
  expect(opened.length).toBe(2);
});

test('what refuses its stream is read without it, and asked again later', async () => {
  const { live, opened, settle } = rig();
  live.start('t');
  await settle();
  opened[0]!.refuse(404);
  await settle();
  expect([live.view().begun, live.view().state]).toEqual(['t', 'off']);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(opened.length).toBe(2);
});
