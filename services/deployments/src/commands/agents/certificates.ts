import { AGENT_SERVER_NAME, agentAddress, type agentsRpc } from '@baton/contracts';
import { AppError, badParameter, isUuid } from '@baton/kernel';
import { readSigningRequest, type SignedCertificate, type SigningRequest } from '@baton/tls/signing';
import { requireAbout } from '../../domain/agents/about';
import { digestOfSecret } from '../../domain/agents/enrolment-secret';
import { listenerDigest } from '../../domain/agents/listener-digest';
import {
  type CertifiedAgent,
  type IssuedCertificate,
  lockCertified,
  revokeSiblings,
  writeAdmission,
  writeEnrolled,
  writeRenewal,
} from '../../store/agents/certificates.sql';
import {
  findEnrolment,
  lockEnrolment,
  type OpenEnrolment,
  useEnrolment,
} from '../../store/agents/enrolments.sql';
import {
  type AuthorityDeps,
  agentSigner,
  listenerSigner,
  type SigningAuthority,
  trustedPem,
} from './authorities';
import { type SettingsDeps, settingsText } from './settings';
import { tellRevoked } from './tell-revoked';

/** Days of the certificates of agents and of their listener; both are renewed at two thirds. */
const DAYS = 30;
const MAX_ID = 256;
const SERIAL = /^[0-9a-f]{1,40}$/;

export type CertificateDeps = AuthorityDeps & SettingsDeps;

type Certificate = agentsRpc.AgentCertificate;

const identityOf = (a: Pick<CertifiedAgent, 'id' | 'tenant' | 'name' | 'node_instance_id'>) => ({
  agentId: a.id,
  tenant: a.tenant,
  name: a.name,
  nodeInstanceId: a.node_instance_id,
  address: agentAddress(a.tenant, a.node_instance_id),
});

async function requireRequest(pem: string): Promise<SigningRequest> {
  const read = await readSigningRequest(pem);
  if (typeof read !== 'string') return read;
  throw badParameter('signing_request', `The signing request ${read}`, {
    expected: 'PKCS #10 in PEM with a key P-256',
  });
}

async function signFor(
  deps: CertificateDeps,
  { signer }: SigningAuthority,
  request: SigningRequest,
  agentId: string,
): Promise<SignedCertificate> {
  return await signer.sign(request, {
    commonName: agentId,
    use: 'client',
    days: DAYS,
    nowMs: deps.clock.now(),
  });
}

const issuedBy = (
  { id }: SigningAuthority,
  { serial, notAfterMs }: SignedCertificate,
): IssuedCertificate => ({
  serial,
  until: new Date(notAfterMs).toISOString(),
  authority: id,
});

/** One text for every token that is no good: it tells nothing about which tokens there are. */
const badToken = (): AppError =>
  new AppError(
    'unauthorized_error',
    'The token of the agent is wrong, used or too old: make a new one and install again',
  );

/**
 * Exchanges a one-time token for the first certificate. A repetition with the same key gets the same certificate, because the answer may
 * have been lost; any other key is refused. *Crash:* before the commit the token is still good.
 * @throws AppError unauthorized_error; bad_parameters_error; service_unavailable_error while no key can be opened
 */
export async function enrolAgent(
  deps: CertificateDeps,
  { token, signingRequest, aboutJson }: agentsRpc.EnrolAgentRequest,
): Promise<Certificate> {
  const digest = digestOfSecret(token);
  const found = digest && (await findEnrolment(deps.db.query, digest));
  // Unknown tokens cost no signature and no check of one.
  if (!found || found.is_tenant_gone) throw badToken();
  const request = await requireRequest(signingRequest);
  const about = requireAbout(aboutJson);
  const authority = await agentSigner(deps);
  const signed = await signFor(deps, authority, request, found.id);
  const { agent, certificate } = await deps.db.tx(async (tx) => {
    const agent = await lockEnrolment(tx, digest);
    if (!agent || agent.id !== found.id || agent.is_tenant_gone) throw badToken();
    const again = usedBefore(agent, request);
    if (again !== null) return { agent, certificate: again };
    await useEnrolment(tx, agent, request.keyDigest, signed.cert);
    await writeEnrolled(tx, agent, issuedBy(authority, signed), about.text);
    const revokedAt = await revokeSiblings(tx, agent);
    if (revokedAt !== null) await tellRevoked(tx, agent.tenant, agent.node_instance_id, revokedAt);
    const { tenant, name } = agent;
    deps.log.info(
      { tenant, agent: name, serial: signed.serial, replaced: revokedAt !== null },
      'agent enrolled',
    );
    return { agent, certificate: signed.cert };
  });
  return await certificateOf(deps, certificate, agent);
}

/** Returns the certificate that the same key got for the token; null when the token was not used. @throws AppError unauthorized_error */
function usedBefore(
  { used_for: key, certificate }: OpenEnrolment,
  { keyDigest }: SigningRequest,
): string | null {
  if (key === null) return null;
  if (!key.equals(keyDigest)) throw badToken();
  return certificate;
}

const certificateOf = async (
  deps: CertificateDeps,
  certificate: string,
  agent: Pick<CertifiedAgent, 'id' | 'tenant' | 'name' | 'node_instance_id' | 'settings' | 'env_sealed'>,
): Promise<Certificate> => ({
  certificate,
  authorities: await trustedPem(deps),
  agent: identityOf(agent),
  settingsJson: await settingsText(deps, agent),
});

/** @throws AppError unauthorized_error with the reason: whoever asks has shown a certificate of an authority */
function requireGood(agent: CertifiedAgent | null): CertifiedAgent {
  const why =
    agent === null || agent.is_tenant_gone
      ? 'its record was deleted'
      : agent.is_revoked
        ? 'its certificates were revoked'
        : !agent.is_present && !agent.is_former
          ? 'a newer certificate is in use'
          : agent.is_expired
            ? 'its certificate has expired'
            : null;
  if (why === null) return agent!;
  throw new AppError('unauthorized_error', `The agent is refused: ${why}. Install it again`, { reason: why });
}

/** Reads id and serial number of a shown certificate; an id that no authority has written belongs to no agent. */
function shown(agentId: string, serial: string): { id: string; serial: string } {
  const lower = serial.slice(0, MAX_ID).toLowerCase();
  if (!isUuid(agentId) || !SERIAL.test(lower)) requireGood(null);
  return { id: agentId, serial: lower };
}

/**
 * Signs the next certificate of an agent. The shown one stays good until the next one is used. A repetition signs once more.
 * @throws AppError unauthorized_error; bad_parameters_error; service_unavailable_error
 */
export async function renewCertificate(
  deps: CertificateDeps,
  { agentId, serial: given, signingRequest }: agentsRpc.RenewAgentCertificateRequest,
): Promise<Certificate> {
  const { id, serial } = shown(agentId, given);
  const request = await requireRequest(signingRequest);
  const authority = await agentSigner(deps);
  const signed = await signFor(deps, authority, request, id);
  const agent = await deps.db.tx(async (tx) => {
    const found = requireGood(await lockCertified(tx, id, serial));
    await writeRenewal(tx, found, issuedBy(authority, signed));
    return found;
  });
  return await certificateOf(deps, signed.cert, agent);
}

/**
 * Admits a stream of an agent; older streams of it are stale from then on.
 * @throws AppError unauthorized_error; bad_parameters_error
 */
export async function admitAgent(
  deps: CertificateDeps,
  { agentId, serial: given, gatewayId, processId, aboutJson }: agentsRpc.AdmitAgentRequest,
): Promise<agentsRpc.AdmittedAgent> {
  const { id, serial } = shown(agentId, given);
  for (const [field, text] of Object.entries({ gateway_id: gatewayId, process_id: processId }))
    if (text === '' || text.length > MAX_ID || text.includes('\0'))
      throw badParameter(field, `${field} must have 1 to ${MAX_ID} characters`);
  const about = requireAbout(aboutJson);
  const { agent, epoch } = await deps.db.tx(async (tx) => {
    const agent = requireGood(await lockCertified(tx, id, serial));
    const { epoch, state } = await writeAdmission(tx, agent, { gatewayId, processId, aboutText: about.text });
    noteAdmission(deps, agent, processId, state);
    return { agent, epoch };
  });
  return {
    agent: identityOf(agent),
    epoch,
    settingsJson: await settingsText(deps, agent),
    authorities: await trustedPem(deps),
  };
}

/** A process that comes back after another one has replaced it is a copy of the machine, or of its key. */
function noteAdmission(
  { log }: CertificateDeps,
  agent: CertifiedAgent,
  processId: string,
  state: string,
): void {
  const about = { tenant: agent.tenant, agent: agent.name };
  if (agent.former_process === processId && agent.process_id !== processId)
    log.warn(about, 'two processes use the certificate of one agent: its machine or its key was copied');
  if (agent.state !== state) log.info({ ...about, from: agent.state, to: state }, 'agent changed its state');
}

/** Issues a certificate for the listener of agents at a gateway. @throws AppError bad_parameters_error, service_unavailable_error */
export async function issueListenerCertificate(
  deps: CertificateDeps,
  { signingRequest }: agentsRpc.IssueListenerCertificateRequest,
): Promise<agentsRpc.ListenerCertificate> {
  const request = await requireRequest(signingRequest);
  const { signer, authorities } = await listenerSigner(deps);
  const { cert } = await signer.sign(request, {
    commonName: AGENT_SERVER_NAME,
    dnsNames: [AGENT_SERVER_NAME],
    use: 'server',
    days: DAYS,
    nowMs: deps.clock.now(),
  });
  return { certificate: cert, authorities, listenerDigest: listenerDigest(authorities) };
}
