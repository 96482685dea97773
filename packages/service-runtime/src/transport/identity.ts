/** The identity of a service and the keys that it trusts, from its configuration. */
import type { ServiceName } from '@baton/contracts';
import type { Log, Secret } from '@baton/kernel';
import type { RpcGuard } from '@baton/rpc';
import {
  createLeaseProofs,
  createSeals,
  derivedTrust,
  type Seals,
  type Trust,
  trustFromFiles,
} from '@baton/trust';
import { ConfigError } from '../config/config';
import type { RuntimeConfig } from '../config/runtime-config';
import type { Infra } from '../lifecycle/infra-types';

/** @throws ConfigError when key files are configured but missing, or cannot be read */
export function trustOf(config: RuntimeConfig, service: ServiceName, log: Log): Trust {
  const { BATON_IDENTITY_KEY_FILE: keyFile, BATON_TRUST_FILE: trustFile, BATON_IDENTITY: kind } = config;
  if (keyFile !== undefined && trustFile !== undefined) {
    try {
      return trustFromFiles(service, { keyFile, trustFile }, { log });
    } catch (error) {
      throw new ConfigError([(error as Error).message]);
    }
  }
  if (kind === 'files' || keyFile !== undefined || trustFile !== undefined) {
    const missing = Object.entries({
      BATON_IDENTITY_KEY_FILE: keyFile,
      BATON_TRUST_FILE: trustFile,
    }).filter(([, value]) => value === undefined);
    throw new ConfigError(missing.map(([name]) => `${name} is missing (identities come from files)`));
  }
  return derivedTrust(service, internalKeyOf(config));
}

/** Returns the identity of a service. @throws Error in a process without its own identity (a worker) */
export function requireTrust(infra: Pick<Infra<any>, 'trust'>): Trust {
  if (!infra.trust) throw new Error('this service runs without an identity');
  return infra.trust;
}

/** Makes seals of messages of this service, and checks seals of others. */
export function sealsOf({ identity, bundle }: Trust): Seals {
  return createSeals({ identityOf: (name) => (name === identity.name ? identity : null), bundle });
}

/**
 * Seals of a process that holds all services: their identities are derived from the internal key. @throws ConfigError without that
 * key
 */
export function sealsOfAll(config: Pick<RuntimeConfig, 'BATON_INTERNAL_KEY'>): Seals {
  const key = internalKeyOf(config);
  return createSeals({
    identityOf: (name) => derivedTrust(name, key).identity,
    bundle: derivedTrust('executions', key).bundle,
  });
}

/** Returns the access check of the rpc server of these services. */
export function guardOf(
  config: Pick<RuntimeConfig, 'BATON_INTERNAL_KEY'>,
  trust: Pick<Trust, 'bundle'>,
  services: readonly ServiceName[],
): RpcGuard {
  return { bundle: trust.bundle, services, leases: createLeaseProofs(internalKeyOf(config)) };
}

/** @throws ConfigError */
function internalKeyOf({ BATON_INTERNAL_KEY: key }: Pick<RuntimeConfig, 'BATON_INTERNAL_KEY'>): Secret {
  if (!key) throw new ConfigError(['BATON_INTERNAL_KEY is missing']);
  return key;
}
