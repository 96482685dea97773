import { agentPaths, type Principal } from '@baton/contracts';
import { AppError, badParameter, type JsonObject } from '@baton/kernel';
import { outsideRequests } from '@baton/postgres';
import type { SecretsPort } from '../../adapters/secrets.client';
import { settingsOf } from '../../domain/agents/agent-settings';
import { newEnrolmentSecret, sealScript } from '../../domain/agents/enrolment-secret';
import type { RenderInstallScript } from '../../domain/agents/install-script';
import { type AgentNetworks, addressesOf } from '../../domain/agents/networks';
import { hostConfig } from '../../queries/agents/host-config';
import { type OwnAgent, requireOwnAgent } from '../../queries/agents/own-agent';
import { writeSettings } from '../../store/agents/certificates.sql';
import { purgeEnrolments, writeEnrolment } from '../../store/agents/enrolments.sql';
import { servedPackages } from '../../store/agents/upgrades.sql';
import { agentSigner, trustedPem } from './authorities';
import type { CertificateDeps } from './certificates';
import { sealSettings } from './settings';

const TOKEN_LIFE_MS = 3_600_000;
const MAX_OPTIONS = 256 * 1024;
const PURGE_BATCH = 1_000;

export interface EnrolmentDeps extends CertificateDeps {
  secrets: SecretsPort;
  networks: AgentNetworks;
  renderScript: RenderInstallScript;
}

export interface Enrolment {
  name: string;
  token: string;
  expires_at: string;
  addresses: readonly string[];
  authorities: string;
  script: string;
  script_url: string;
}

/**
 * Makes a one-time token for an agent of the tenant, and its install script; an older token falls. *Crash:* what was not answered is
 * replaced by the next call.
 * @throws AppError not_found_error; bad_parameters_error; illegal_action_error for a host without agent; service_unavailable_error
 */
export async function makeEnrolment(
  deps: EnrolmentDeps,
  principal: Principal,
  name: string,
  { network, options }: { network: string; options: Record<string, unknown> },
): Promise<Enrolment> {
  if (JSON.stringify(options).length > MAX_OPTIONS)
    throw badParameter('options', 'The options are too long', {
      expected: `at most ${MAX_OPTIONS} characters`,
    });
  const agent = await requireOwnAgent(deps.db.query, principal, name);
  requireInstallable(agent);
  const addresses = addressesOf(deps.networks, network);
  const from = { db: deps.db.query, secrets: deps.secrets };
  const config = await hostConfig(from, principal, agent, options as JsonObject);
  await outsideRequests(() => agentSigner(deps));
  const authorities = await trustedPem(deps);
  const secret = newEnrolmentSecret();
  const script = deps.renderScript({
    name,
    tenant: agent.tenant,
    nodeInstanceId: agent.node_instance_id,
    addresses,
    token: secret.token,
    authorities,
    packages: await servedPackages(deps.db.query),
    config,
  });
  const settings = await sealSettings(deps, agent, settingsOf(config, deps.graceMs));
  const expires_at = await deps.db.tx(async (tx) => {
    await writeSettings(tx, settings);
    return await writeEnrolment(tx, {
      tenant: agent.tenant,
      name,
      ...secret,
      script: sealScript(secret, script),
      lifeMs: TOKEN_LIFE_MS,
    });
  });
  const script_url = `${addresses[0]}${agentPaths.install}/${secret.link}`;
  return { name, token: secret.token, expires_at, addresses, authorities, script, script_url };
}

function requireInstallable({ install_method: method, name }: OwnAgent): void {
  if (method !== 'none' && method !== 'ssh') return;
  throw new AppError(
    'illegal_action_error',
    `The host of \`${name}\` gets no agent (install_method: ${method})`,
    { field: 'install_method', expected: ['remote', 'init_script', 'plugin', 'provided'] },
  );
}

/** Removes tokens that are too old, at most 1,000 a call. */
export async function forgetEnrolments({ db }: Pick<EnrolmentDeps, 'db'>): Promise<{ again: boolean }> {
  return { again: (await db.tx((tx) => purgeEnrolments(tx, PURGE_BATCH))) === PURGE_BATCH };
}
