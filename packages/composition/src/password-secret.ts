import type { Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { isMissing } from './failures';
import { makePassword, type PasswordRule, ruleComplaint } from './password';
import type { Scope } from './scope';
import { createSecrets, deleteSecrets } from './secrets';
import { settingOf } from './settings';
import { STATE } from './state';

function ruleOf(scope: Scope): PasswordRule {
  const number = (key: string, fallback: number): number => {
    const value = settingOf(scope, key) ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    throw new FatalError(`${key}: a whole number is expected, it is ${JSON.stringify(value)}`);
  };
  return {
    length: number('length', 8),
    uppercase: number('uppercase', 0),
    lowercase: number('lowercase', 0),
    digits: number('digits', 0),
    symbols: number('symbols', 0),
  };
}

/** `validation.create` of a password: checks that a password can match the node's rule. */
export async function validatePassword(scope: Scope): Promise<Json> {
  const complaint = ruleComplaint(ruleOf(scope));
  if (complaint !== null) throw new FatalError(complaint);
  return true;
}

/**
 * `create` of a password: creates a secret with a random password, or uses an existing one. The runtime property
 * `password` holds the way to get it (reference/workflows.md 8.3). After a crash the secret that was about to be
 * created is used if it exists.
 */
export async function createPassword(scope: Scope): Promise<Json> {
  const { ctx, instance } = scope;
  const given = settingOf(scope, 'secret_name');
  const name = typeof given === 'string' && given !== '' ? given : `ps_${ctx.deployment.id}_${instance.id}`;
  if (settingOf(scope, 'use_secret_if_exists')) {
    if (typeof given !== 'string' || given === '')
      throw new FatalError("Can't enable `use_secret_if_exists` property without providing a secret_name");
    if (await hasSecret(scope, name)) {
      note(scope, name);
      ctx.logger.info(`Using existing password from secret \`${name}\``);
      return true;
    }
  }
  if (instance.runtimeProperties.password) return true;
  const rule = ruleOf(scope);
  const complaint = ruleComplaint(rule);
  if (complaint !== null) throw new FatalError(complaint);
  await createSecrets(scope, scope.own, { [name]: makePassword(rule) });
  note(scope, name);
  ctx.logger.info('Created password secret.');
  return true;
}

function note({ instance }: Scope, name: string): void {
  Object.assign(instance.runtimeProperties, { secret_name: name, password: { get_secret: name } });
}

async function hasSecret({ own }: Scope, name: string): Promise<boolean> {
  try {
    await own.client.call('getSecret', { params: { secret_key: name }, query: { _skip_value: true } });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** `delete` of a password: deletes its secret, unless it existed before. */
export async function deletePassword(scope: Scope): Promise<Json> {
  await deleteSecrets(scope, scope.own);
  for (const key of ['password', 'secret_name', STATE]) delete scope.instance.runtimeProperties[key];
  return null;
}
