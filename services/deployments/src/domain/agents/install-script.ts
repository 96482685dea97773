import type { JsonObject } from '@baton/kernel';

/** A package of the agent that the gateways serve. */
export interface AgentPackage {
  /** linux-x64, linux-arm64. */
  platform: string;
  version: string;
  /** Of the file that is sent, in hexadecimal digits. */
  sha256: string;
  /** Bytes of the file that is sent. */
  size: number;
}

/** What an install script is made of. */
export interface InstallScriptOptions {
  name: string;
  tenant: string;
  nodeInstanceId: string;
  /** Addresses of the manager as the host reaches it, the best first. */
  addresses: readonly string[];
  /** The one-time token. */
  token: string;
  /** PEM of the authorities that the agent trusts. */
  authorities: string;
  packages: readonly AgentPackage[];
  /** `agent_config` of the host by its names, with `extra` flattened: user, basedir, process_management, env, ... */
  config: JsonObject;
}

/**
 * Renders an install script for POSIX shells.
 * @throws AppError bad_parameters_error with the `field` of `config` from which no script can be made
 */
export type RenderInstallScript = (options: InstallScriptOptions) => string;
