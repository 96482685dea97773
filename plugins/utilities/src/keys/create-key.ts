import { FatalError } from '@baton/plugin-sdk';
import type * as z from 'zod';
import { hasFinished, markFinished } from '../once';
import { makeSecret, readSecret, secretNames } from './kept-secrets';
import { makeKeyFile, readKeyFile } from './key-files';
import { type KeyPair, makePair, pairOf } from './key-pair';
import { type CREATE_INPUTS, DEFAULT_PUBLIC_PATH, type KeyScope, RESOURCE_CONFIG } from './schema';

type Inputs = z.output<typeof CREATE_INPUTS>;
type Config = z.output<typeof RESOURCE_CONFIG>;
type Texts = Pick<KeyPair, 'privateKey' | 'publicKey'>;

/** Where a pair is to be kept. Undefined: not there. */
interface Places {
  keyName?: string;
  privatePath?: string;
  publicPath?: string;
}

/**
 * Makes a pair and keeps it where the node says. Its fingerprint is stored before anything else is made: another try goes on with the
 * pair of the first one when its private key is kept already, and delete knows what belongs to the node.
 * @throws FatalError for a wrong configuration, for one secret of two, and for secrets and files that are there already
 */
export async function createKey(scope: KeyScope): Promise<void> {
  const { runtime, log } = scope;
  const inputs = scope.inputs as Inputs;
  if (isDone(runtime)) {
    log.error('You should run delete before run create');
    return;
  }
  const config = configOf(scope);
  requireSupported(scope, config);
  const places = placesOf(scope, config);
  requirePlace(places, inputs);
  const texts = (await givenPair(scope, places)) ?? (await ownPair(scope, places, config.bits));
  if (places.privatePath !== undefined) {
    runtime.private_key_path = places.privatePath;
    await keepFile(places.privatePath, texts.privateKey);
  }
  if (places.publicPath !== undefined) {
    runtime.public_key_path = places.publicPath;
    await keepFile(places.publicPath, `${texts.publicKey}\n`);
  }
  if (inputs.store_public_key_material) runtime.public_key_export = texts.publicKey;
  if (inputs.store_private_key_material) runtime.private_key_export = texts.privateKey;
  markFinished(runtime, 'create');
}

/** Nodes that the original plugin made have runtime properties, and no fingerprint. */
function isDone(runtime: KeyScope['runtime']): boolean {
  if (hasFinished(runtime, 'create')) return true;
  const isOriginal = runtime.secret_key_name ?? runtime.public_key_export ?? runtime.public_key_path;
  return runtime.key_fingerprint === undefined && isOriginal !== undefined;
}

/** The input before the property. */
function configOf({ inputs, properties }: KeyScope): Config {
  const { resource_config: given } = inputs as { resource_config?: unknown };
  if (given === undefined || given === null) return properties.resource_config;
  const parsed = RESOURCE_CONFIG.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new FatalError(`inputs.resource_config: ${problems.join('; ')}`);
}

function requireSupported({ properties, log }: KeyScope, config: Config): void {
  for (const name of ['comment', 'unvalidated'] as const)
    if (config[name]) log.error(`Property "${name}" not implemented.`);
  if (config.passphrase)
    throw new FatalError('passphrase is not implemented: the private key would be kept without it');
  if (config.openssh_format === false) throw new FatalError('Only OpenSSH format is supported');
  if (config.algorithm !== 'RSA') throw new FatalError('Only RSA algorithm is supported');
  if (properties.use_secrets_if_exist && !properties.use_secret_store)
    throw new FatalError('use_secrets_if_exist needs use_secret_store');
}

function placesOf({ properties, ctx, instanceId }: KeyScope, config: Config): Places {
  const { private_key_path: privatePath, public_key_path: publicPath } = config;
  const name = config.key_name || properties.key_name || `${ctx.deployment.id}-${instanceId}`;
  return {
    keyName: properties.use_secret_store ? name : undefined,
    privatePath: privatePath || undefined,
    publicPath: publicPath === DEFAULT_PUBLIC_PATH ? undefined : publicPath || undefined,
  };
}

function requirePlace({ keyName, privatePath }: Places, inputs: Inputs): void {
  if (keyName === undefined && privatePath === undefined && !inputs.store_private_key_material)
    throw new FatalError('Must provide private_key_path when use_secret_store is false');
}

/** The pair of somebody else in the two secrets, when the node may use it; null: it makes a pair of its own. */
async function givenPair(scope: KeyScope, { keyName }: Places): Promise<Texts | null> {
  const { properties, runtime, manager } = scope;
  if (keyName === undefined) return null;
  const { privateName, publicName } = secretNames(keyName);
  const [kept, keptPublic] = [
    await readSecret(manager(), privateName),
    await readSecret(manager(), publicName),
  ];
  if (kept === null && keptPublic === null) return null;
  if (kept !== null && isOwn(runtime, pairOf(kept.value))) return null;
  if (!properties.use_secrets_if_exist)
    throw new FatalError(`a secret ${privateName} or ${publicName} exists already: it is not replaced`);
  if (kept === null || keptPublic === null)
    throw new FatalError(
      `Cant use existing secrets: ${publicName}, ${privateName} because only one of them exists in your manager`,
    );
  if (kept.value === '' || keptPublic.value === '')
    throw new FatalError(
      `${privateName} or ${publicName} is empty, or its value is hidden from this execution`,
    );
  runtime.secret_key_name = keyName;
  runtime.secrets_key_owner = false;
  return { privateKey: kept.value, publicKey: keptPublic.value };
}

const isOwn = (runtime: KeyScope['runtime'], pair: KeyPair | null): boolean =>
  pair !== null && pair.fingerprint === runtime.key_fingerprint;

/** Makes a pair, or goes on with that of an earlier try, and keeps it in the secrets. */
async function ownPair(scope: KeyScope, places: Places, bits: number): Promise<Texts> {
  const { runtime, ctx, manager, log } = scope;
  const pair = (await leftBehind(scope, places)) ?? (await makePair(bits));
  runtime.key_fingerprint = pair.fingerprint;
  if (places.keyName !== undefined) runtime.secret_key_name = places.keyName;
  // A process that dies behind this line has told which pair it was about to keep.
  await (await ctx.instance()).update();
  if (places.keyName === undefined) return pair;
  const { privateName, publicName } = secretNames(places.keyName);
  for (const [name, text] of [
    [privateName, pair.privateKey],
    [publicName, pair.publicKey],
  ] as const)
    if ((await readSecret(manager(), name)) === null) await makeSecret(manager(), name, text);
  runtime.secrets_key_owner = true;
  log.info(`The key ${pair.fingerprint} is in the secrets ${privateName} and ${publicName}`);
  return pair;
}

/** The pair that an earlier try has kept; null: it had not come so far. */
async function leftBehind({ runtime, manager }: KeyScope, places: Places): Promise<KeyPair | null> {
  if (runtime.key_fingerprint === undefined) return null;
  const { keyName, privatePath } = places;
  const texts = [
    keyName === undefined ? null : (await readSecret(manager(), secretNames(keyName).privateName))?.value,
    privatePath === undefined ? null : await readKeyFile(privatePath),
  ];
  const pairs = texts.map((text) => (text ? pairOf(text) : null));
  return pairs.find((pair) => isOwn(runtime, pair)) ?? null;
}

/** Writes a file, unless an earlier try has written the same. */
async function keepFile(path: string, content: string): Promise<void> {
  if ((await readKeyFile(path)) !== content) await makeKeyFile(path, content);
}
