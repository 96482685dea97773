import type { Json, JsonObject } from '@baton/kernel';
import type { InstanceContext, OperationContext } from '../context';
import type { PluginDefinition } from '../define/definition';
import type { BaseScope, StepScope } from '../define/scope';
import { FatalError } from '../errors';
import { clockWith } from '../tools/clock';
import { managerAddress } from '../tools/config';
import { execWith } from '../tools/exec';
import { httpWith } from '../tools/http';
import type { Http } from '../tools/http-options';
import { idempotencyKey } from '../tools/idempotency-key';
import type { Mask } from './mask';
import { replacedPartsOf } from './replaced-parts';
import type { SensitiveRuntime } from './sensitive-runtime';

/** Makes what every operation gets. `sensitive`: values that are kept in secrets; they are written whenever something is stored. */
export function baseScope(
  ctx: OperationContext,
  plugin: PluginDefinition,
  mask: Mask,
  sensitive: SensitiveRuntime | null = null,
): BaseScope {
  const log = mask.logger(ctx.logger);
  const { signal } = ctx;
  const used = new Set<string>();
  const secret = async (name: string): Promise<string> => {
    if (!(plugin.secrets ?? []).includes(name))
      throw new FatalError(
        `the plugin ${plugin.name} does not declare the secret ${name}: add the name to secrets of definePlugin`,
      );
    const value = await ctx.secret(name);
    mask.add(value);
    return value;
  };
  const step = async <T extends Json>(key: string, work: (step: StepScope) => Promise<T>): Promise<T> => {
    if (used.has(key))
      throw new FatalError(`the step ${key} was used before in this operation: its work would not run again`);
    used.add(key);
    return await ctx.step(key, async () => {
      const result = await work({ idempotencyKey: idempotencyKey(ctx.taskId, key) });
      await sensitive?.save(result);
      return result;
    });
  };
  const progress = (done: number, total: number, text?: string): void =>
    ctx.progress(done, total, text === undefined ? undefined : mask.text(text));
  const remoteCtx: OperationContext['remoteCtx'] = async (files, hide) =>
    await ctx.remoteCtx(files, (text) => mask.text(hide?.(text) ?? text));
  const { send, run, clock = clockWith(signal) } = replacedPartsOf(ctx);
  const instance = async (): Promise<InstanceContext> => savedInstance(await ctx.instance(), sensitive);
  const own = sensitive === null ? {} : { instance };
  return {
    ctx: withMembers(ctx, { logger: log, secret, step, progress, remoteCtx, ...own }),
    log,
    signal,
    secret,
    hide: (value) => mask.add(value),
    step,
    render: (text, variables = {}) => ctx.render(text, variables as JsonObject),
    progress,
    http: httpWith({ signal, clock, ...(send ? { send } : {}) }),
    manager: () => managerOf(ctx),
    exec: execWith({ signal, ...(run ? { run } : {}) }),
    clock,
  };
}

/**
 * The API of the manager, with the rights of the execution. Without `signal` requests go on after a cancel.
 * @throws FatalError where no manager runs the operation
 */
export function managerOf({
  executionToken,
  tenant,
  signal,
}: Pick<OperationContext, 'executionToken' | 'tenant'> & { signal?: AbortSignal }): Http {
  const baseUrl = managerAddress();
  if (baseUrl === null) throw new FatalError('this process does not know the address of the manager');
  return httpWith({
    ...(signal ? { signal } : {}),
    baseUrl,
    headers: { 'Execution-Token': executionToken, Tenant: tenant },
  });
}

/** An instance that writes sensitive values before it stores anything. */
function savedInstance(instance: InstanceContext, sensitive: SensitiveRuntime | null): InstanceContext {
  return withMembers(instance, {
    update: async (onConflict) => {
      await sensitive?.save();
      await instance.update(onConflict);
    },
  });
}

/** An object with some members replaced. Others are called on the object itself, which may have private members. */
function withMembers<T extends object>(target: T, replaced: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (_, name, value) => Reflect.set(target, name, value, target),
  });
}
