import { type AgentAbout, catalogRpc, executionsRpc } from '@baton/contracts';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import { createAuthority } from '@baton/tls/authority';
import { type AgentLink, createAgentLink, type LinkTimes, type Notice, type Welcome } from './index';
import { type GatewayDouble, startGatewayDouble } from './testing';

const ABOUT: AgentAbout = {
  protocol: 1,
  version: '0.2.0',
  platform: 'linux-x64',
  hostname: 'h',
  system: 's',
  processManagement: 'detach',
  startedAt: '',
  slots: 1,
  running: 0,
  waitingLines: 0,
  droppedLines: 0,
  authoritiesDigest: '',
  certificateUntil: '',
  upgrade: null,
};

let gateway: GatewayDouble;
let links: AgentLink[];
let welcomes: Welcome[];
let notices: Notice[];
let lost: string[];
let answer: () => Promise<void>;

beforeEach(async () => {
  links = [];
  welcomes = [];
  notices = [];
  lost = [];
  answer = async () => undefined;
  gateway = await startGatewayDouble(handlers());
});
afterEach(async () => {
  for (const link of links) link.close();
  await gateway.close();
});

const handlers = () => ({
  executions: {
    heartbeat: async () => {
      await answer();
      return { lost: [], kill: [], proofs: { a: 'b' }, weights: {} };
    },
  },
  catalog: {
    readStoredFile: async function* () {
      for (let i = 0; i < 50; i++) yield { data: Buffer.from([i]) };
    },
    getBlueprint: async ({ id }: { id?: string }) => {
      await answer();
      return {
        id: id ?? '',
        tenant: '',
        digest: 'd',
        planJson: '',
        state: '',
        visibility: '',
        createdBy: '',
        mainFileName: '',
        labelsJson: '',
      };
    },
  } as never,
});

async function link(times: Partial<LinkTimes> = {}, address = gateway.address): Promise<AgentLink> {
  const { cert, key } = await gateway.certificateFor();
  const made = createAgentLink({
    addresses: () => [address],
    credentials: () => ({ authorities: gateway.authority.cert, certificate: cert, key }),
    proxy: { url: null, except: '' },
    processId: 'p',
    about: () => ABOUT,
    patienceMs: () => 20_000,
    clock: systemClock,
    log: silentLog,
    onWelcome: (welcome) => void welcomes.push(welcome),
    onNotice: (notice) => void notices.push(notice),
    onLost: (reason) => void lost.push(reason),
    times: { firstRetryMs: 20, mostRetryMs: 100, ...times },
  });
  links.push(made);
  made.start();
  return made;
}

const opened = (made: AgentLink): Promise<void> =>
  eventually(async () => {
    if (!made.isOpen()) throw new Error(`no stream: ${made.problem()}`);
  });
const beat = (made: AgentLink, deadlineMs = 5_000) =>
  made.rpc
    .client(executionsRpc.ExecutionsServiceDefinition, 'executions')
    .heartbeat({ workerId: 'w' }, { deadlineMs, lease: { proof: 'the proof' } });

test('a call goes through the stream with its lease, and notices arrive', async () => {
  const made = await link();
  await opened(made);
  expect((await beat(made)).proofs).toEqual({ a: 'b' });
  expect([...gateway.leases.values()]).toEqual(['the proof']);
  gateway.notify({ notice: 'task-ready', executionId: 'e', taskId: 't' });
  await eventually(async () => expect(notices).toHaveLength(1));
  expect(welcomes[0]!.workerId).toBe('agent:default_tenant/vm_1');
});

test('a streamed answer arrives whole, however few parts may be under way', async () => {
  const made = await link();
  await opened(made);
  const got: number[] = [];
  const parts = made.rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog').readStoredFile({});
  for await (const { data } of parts) got.push(data[0]!);
  expect(got).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test('after a cut the stream is opened again; a call of the engine fails, one of an operation waits and is repeated', async () => {
  const made = await link();
  await opened(made);
  let release: () => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const failing = beat(made).catch((error: Error) => error.message);
  const waiting = made.rpc
    .client(catalogRpc.CatalogServiceDefinition, 'catalog')
    .getBlueprint({ blueprintId: 'x' });
  await eventually(async () => expect(gateway.calls).toHaveLength(2));
  answer = async () => undefined;
  gateway.cut();
  release();
  expect(await failing).toContain('no stream');
  expect((await waiting).digest).toBe('d');
  expect(gateway.hellos).toHaveLength(2);
});

test('while a stream says nothing, a call of the engine fails, and one of an operation goes on asking', async () => {
  const made = await link();
  await opened(made);
  answer = () => new Promise(() => undefined);
  const failing = beat(made, 1).catch((error: Error) => error.message);
  const waiting = made.rpc
    .client(catalogRpc.CatalogServiceDefinition, 'catalog')
    .getBlueprint({ blueprintId: 'x' }, { deadlineMs: 1 });
  expect(await failing).toContain('Deadline exceeded');
  answer = async () => undefined;
  expect((await waiting).digest).toBe('d');
  expect(gateway.hellos).toHaveLength(1);
});

test('a gateway that says nothing any more is left after the time of silence', async () => {
  const made = await link({ silenceMs: 300 });
  await opened(made);
  gateway.freeze();
  await eventually(async () => expect(lost.join()).toContain('silent'));
  expect(made.isOpen()).toBe(false);
});

test('a gateway that starts again gets the stream back', async () => {
  const made = await link();
  await opened(made);
  const { port, authority } = gateway;
  await gateway.close();
  await eventually(async () => expect(made.isOpen()).toBe(false));
  gateway = await startGatewayDouble({ ...handlers(), port, authority });
  await opened(made);
  expect((await beat(made)).proofs).toEqual({ a: 'b' });
});

test('a listener of another authority is refused, and a refusal of the gateway is told with its text', async () => {
  const foreign = await startGatewayDouble({
    authority: await createAuthority('foreign', systemClock.now()),
  });
  const made = await link({}, foreign.address);
  await eventually(async () => expect(made.problem()).not.toBe(''));
  expect(foreign.hellos).toEqual([]);
  await foreign.close();
  gateway.refuse(403);
  const other = await link();
  await eventually(async () => expect(other.problem()).toContain('status 403'));
  expect(other.problem()).toContain('the certificate of the agent is not accepted');
  gateway.refuse(null);
  await opened(other);
});

test('a leaving gateway is left at the time that it says', async () => {
  const made = await link();
  await opened(made);
  gateway.notify({ notice: 'leaving', afterMs: 30 });
  await eventually(async () => expect(gateway.hellos).toHaveLength(2));
  expect(lost.join()).toContain('the gateway stops');
});
