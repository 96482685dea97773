import { FatalError, OperationRetry, RetryableError } from '@baton/plugin-sdk';
import { connect, plainLine, type SshConnection } from '@baton/plugin-sdk/ssh';
import { once } from '../once';
import { problemsOf } from '../problems';
import { Conversation } from './conversation';
import { devicesOf } from './devices';
import { pause } from './pause';
import { CALL, type Call, type Response, type TerminalAuth, type TerminalScope } from './schema';

const DEFAULT_PROMPTS = ['#', '$'];
const CONNECT_MS = 30_000;
/** How long a device may take to end the login. */
const EXIT_MS = 5_000;

/** What judges the output of a line. */
interface Rules {
  prompts: readonly string[];
  warnings: readonly string[];
  errors: readonly string[];
  criticals: readonly string[];
  responses: readonly Response[];
}

/** A login at a device: runs one line, and gives its output. */
interface Device {
  name: string;
  run(line: string, rules: Rules): Promise<string>;
  end(rules: Rules): Promise<void>;
  close(): void;
}

/**
 * Runs the input `calls` at the first device that answers.
 * @throws OperationRetry when none does; RetryableError and FatalError as the rules of the call say
 */
export async function runCalls(scope: TerminalScope): Promise<void> {
  await once(scope, async () => {
    const calls = callsOf(scope.inputs.calls);
    if (calls.length === 0) return void scope.log.info('No calls');
    const { auth, addresses } = await devicesOf(scope);
    for (const secret of [auth.password, auth.key_content]) scope.hide(secret);
    const device = await firstDevice(scope, auth, addresses);
    try {
      for (const call of calls) await runCall(scope, device, call, auth);
      await device.end(rulesOf(auth, {}));
    } finally {
      device.close();
    }
  });
}

function callsOf(given: unknown): Call[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw new FatalError('inputs.calls: expected a list');
  return given.map((one: unknown, at) => {
    const parsed = CALL.safeParse(one);
    if (parsed.success) return parsed.data;
    throw new FatalError(problemsOf(`inputs.calls[${at}]`, parsed.error));
  });
}

const rulesOf = (auth: TerminalAuth, call: Partial<Call>): Rules => ({
  prompts: firstFilled(call.promt_check, auth.promt_check, DEFAULT_PROMPTS),
  warnings: call.warnings ?? auth.warnings,
  errors: call.errors ?? auth.errors,
  criticals: call.criticals ?? auth.criticals,
  responses: call.responses ?? auth.responses ?? [],
});

const firstFilled = (...lists: (readonly string[] | undefined)[]): readonly string[] =>
  lists.find((list) => list !== undefined && list.length > 0) ?? [];

async function firstDevice(scope: TerminalScope, auth: TerminalAuth, addresses: string[]): Promise<Device> {
  const { log, signal } = scope;
  for (const host of addresses) {
    let connection: SshConnection | null = null;
    try {
      connection = await connect({
        host,
        port: auth.port,
        user: auth.user,
        key: auth.key_content || undefined,
        password: auth.password || undefined,
        knownHosts: auth.known_hosts?.length ? auth.known_hosts : 'accept',
        connectTimeoutMs: CONNECT_MS,
        signal,
        log,
      });
      const device = auth.smart_device
        ? smartDevice(connection, scope)
        : await rawDevice(connection, scope, auth);
      log.info(`Will be used: ${host}`);
      return device;
    } catch (error) {
      connection?.close();
      // A key that cannot be read, or a device that is another one, does not pass with the next address.
      if (error instanceof FatalError || signal.aborted) throw error;
      log.info(`Can't connect to ${host}: ${(error as Error).message}`);
    }
  }
  throw new OperationRetry(`no device answers: ${addresses.join(', ')}`);
}

/** Lines go to the login shell of the device, one after another. */
async function rawDevice(
  connection: SshConnection,
  scope: TerminalScope,
  auth: TerminalAuth,
): Promise<Device> {
  const { name } = connection;
  const conversation = new Conversation(
    await connection.shell(),
    name,
    scope.signal,
    transcript(scope, auth),
  );
  const rules = rulesOf(auth, {});
  const welcome = await conversation.read(rules);
  if (conversation.isClosed) throw new RetryableError(`${name} closed the terminal: ${shown(welcome)}`);
  return {
    name,
    run: async (line, given) => {
      if (conversation.isClosed) throw new RetryableError(`${name} has closed the terminal`);
      conversation.send(`${line}\n`);
      return await conversation.read({ ...given, echo: line });
    },
    end: async ({ responses }) => {
      if (auth.exit_command === '' || conversation.isClosed) return;
      conversation.send(`${auth.exit_command}\n`);
      await Promise.race([conversation.readAll(responses), pause(EXIT_MS, scope.signal)]);
    },
    close: () => connection.close(),
  };
}

/** Each line gets a session of its own. */
const smartDevice = (connection: SshConnection, { signal }: TerminalScope): Device => ({
  name: connection.name,
  run: async (line, { responses }) => {
    const stream = await connection.channel(line, { pty: true });
    return await new Conversation(stream, connection.name, signal, () => undefined).readAll(responses);
  },
  end: async () => undefined,
  close: () => connection.close(),
});

const transcript =
  ({ log }: TerminalScope, { store_logs: isShown }: TerminalAuth) =>
  (text: string): void => {
    if (isShown) for (const line of text.split('\n')) if (line.trim() !== '') log.debug(plainLine(line));
  };

async function runCall(scope: TerminalScope, device: Device, call: Call, auth: TerminalAuth): Promise<void> {
  const rules = rulesOf(auth, call);
  const outputs: string[] = [];
  for (const line of (await linesOf(scope, call)).split('\n'))
    if (line.trim() !== '') outputs.push((await runLine(scope, device, line.trim(), rules, call)).trim());
  const text = outputs.join('\n').trim();
  if (call.save_to) (scope.runtime as Record<string, unknown>)[call.save_to] = text;
}

async function linesOf({ ctx, render }: TerminalScope, call: Call): Promise<string> {
  if (call.action) return call.action;
  const variables = call.params ?? {};
  if (call.template)
    return await render(Buffer.from(await ctx.getResource(call.template)).toString('utf8'), variables);
  return call.template_text ? await render(call.template_text, variables) : '';
}

async function runLine(
  scope: TerminalScope,
  device: Device,
  line: string,
  rules: Rules,
  call: Call,
): Promise<string> {
  const { log, signal } = scope;
  for (let tries = 1; ; tries++) {
    log.debug(`Execute: ${line}`);
    const text = await device.run(line, rules);
    const found = (beginnings: readonly string[]): string | undefined => lineWith(text, beginnings);
    const critical = found(rules.criticals);
    if (critical !== undefined) throw new FatalError(`${device.name} answers: ${shown(critical)}`);
    const error = found(rules.errors);
    if (error !== undefined) throw new RetryableError(`${device.name} answers: ${shown(error)}`);
    const warning = found(rules.warnings);
    if (warning === undefined) {
      if (text.trim() !== '') log.info(shown(text.trim()));
      return text;
    }
    if (tries >= call.retry_count)
      throw new RetryableError(`${device.name} answers, after ${tries} tries: ${shown(warning)}`);
    log.info(`Need for rerun: ${shown(warning)}`);
    await pause(call.retry_sleep * 1000, signal);
  }
}

/** The first line that begins with one of the texts. */
const lineWith = (text: string, beginnings: readonly string[]): string | undefined =>
  text.split('\n').find((line) => beginnings.some((beginning) => line.startsWith(beginning)));

const SHOWN = 1000;
const shown = (text: string): string => {
  const plain = text.split('\n').map(plainLine).join('\n');
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}...` : plain;
};
