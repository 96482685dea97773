import type { DirectScope, InstanceContext, OperationContext } from '@baton/plugin-sdk';
import { connect, type RunOptions, type SshConnection } from '@baton/plugin-sdk/ssh';
import { type HostSettings, type KeyMemory, readFabricEnv } from './fabric-env';
import { isJsonObject } from './is-json-object';
import { lineLog } from './line-log';
import { readOutputOptions } from './output-options';

/** A host, and how an operation runs commands there. */
export interface AtHost {
  connection: SshConnection;
  settings: HostSettings;
  /** Options of each command: the outputs go to the log. */
  options: RunOptions;
  showsCommands: boolean;
}

/** Runtime property with the keys of hosts that were seen first. */
const HOST_KEYS = '__baton_host_keys';

/** Connects to the host that the inputs name, and closes the connection after `work`. Passwords and keys are masked from then on. */
export async function atHost<T>(scope: DirectScope, work: (at: AtHost) => Promise<T>): Promise<T> {
  const { ctx, inputs, log, signal } = scope;
  const output = readOutputOptions(inputs);
  const memory = await memoryOf(ctx);
  const settings = await readFabricEnv(inputs.fabric_env, () => hostIp(ctx), memory.of);
  hideSecrets(scope, settings);
  const { login, jump, connectTimeoutMs, keepaliveMs, forwardAgent } = settings;
  const connection = await connect({
    ...login,
    jump,
    connectTimeoutMs,
    keepaliveMs,
    forwardAgent,
    signal,
    log,
  });
  try {
    await memory.store();
    const { sudoPassword: password, sudoUser: user, pty, env, commandTimeoutMs: timeoutMs } = settings;
    const onLine = output.showsLines ? lineLog(log) : undefined;
    const sudo = inputs.use_sudo === true || inputs.use_sudo === 'true' ? { password, user } : false;
    const options: RunOptions = { onLine, sudo, pty, env, timeoutMs, exitCodes: output.exitCodes };
    return await work({ connection, settings, options, showsCommands: output.showsCommands });
  } finally {
    connection.close();
  }
}

function hideSecrets({ hide }: DirectScope, { login, jump, sudoPassword }: HostSettings): void {
  for (const { key, passphrase, password } of [login, ...jump]) hide([key, passphrase, password]);
  hide(sudoPassword);
}

/** The address of the instance, or of the source of a relationship. */
async function hostIp(ctx: OperationContext): Promise<string> {
  return await (await instanceOf(ctx)).hostIp();
}

const instanceOf = async (ctx: OperationContext): Promise<InstanceContext> =>
  ctx.type === 'relationship-instance' ? (await ctx.source()).instance : await ctx.instance();

/** Keys that were seen first, in the runtime properties of the instance. */
async function memoryOf(ctx: OperationContext): Promise<{ of: KeyMemory; store(): Promise<void> }> {
  if (ctx.type === 'deployment')
    return { of: () => ({ remembered: undefined, remember: () => undefined }), store: async () => undefined };
  const instance = await instanceOf(ctx);
  const kept = (): Record<string, unknown> => {
    const keys = instance.runtimeProperties[HOST_KEYS];
    return isJsonObject(keys) ? keys : {};
  };
  let isNew = false;
  return {
    of: (place) => {
      const known = kept()[place];
      return {
        remembered: typeof known === 'string' ? known : undefined,
        remember: (key) => {
          instance.runtimeProperties = {
            ...instance.runtimeProperties,
            [HOST_KEYS]: { ...kept(), [place]: key } as never,
          };
          isNew = true;
        },
      };
    },
    // Before the first command: a process that dies later must not accept another key.
    store: async () => {
      if (isNew) await instance.update();
    },
  };
}
