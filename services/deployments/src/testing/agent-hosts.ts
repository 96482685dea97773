/** Hosts of agents for tests: they have keys and ask for certificates as the program on a host does. */
import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import type { AgentAbout } from '@baton/contracts';
import * as x509 from '@peculiar/x509';
import type { TestDeployments } from './test-deployments';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Makes a key and a signing request for it, as PEM. `algorithm`: of the key, by default P-256. */
export async function keyAndRequest(
  name = 'CN=anything',
  algorithm: object = P256,
): Promise<{ key: string; request: string }> {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = (await webcrypto.subtle.generateKey(algorithm as never, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys: keys as never,
    signingAlgorithm: algorithm as never,
  });
  const key = x509.PemConverter.encode(
    await webcrypto.subtle.exportKey('pkcs8', keys.privateKey),
    'PRIVATE KEY',
  );
  return { key, request: request.toString('pem') };
}

export const signingRequest = async (name?: string, algorithm?: object): Promise<string> =>
  (await keyAndRequest(name, algorithm)).request;

export const aboutOf = (change: Partial<AgentAbout> = {}): AgentAbout => ({
  protocol: 1,
  version: '1.0.0',
  platform: 'linux-x64',
  hostname: 'host',
  system: 'Debian GNU/Linux 12',
  processManagement: 'systemd',
  startedAt: '2026-11-27T00:00:00Z',
  slots: 5,
  running: 0,
  waitingLines: 0,
  droppedLines: 0,
  authoritiesDigest: '',
  certificateUntil: '',
  upgrade: null,
  ...change,
});

export const aboutJson = (change: Partial<AgentAbout> = {}): string => JSON.stringify(aboutOf(change));

export interface TestHost {
  name: string;
  id: string;
  serial: string;
  certificate: X509Certificate;
  authorities: string;
}

/** Serial number in the form of the calls. */
export const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber.toLowerCase();

/** Enters an agent and makes its token by REST. */
export async function newToken(test: TestDeployments, name: string, instance: string): Promise<string> {
  await test.call('PUT', `/agents/${name}`, {
    node_instance_id: instance,
    state: 'started',
    create_rabbitmq_user: false,
  });
  const { status, body } = await test.call('POST', `/agents/${name}/enrolment`, {});
  if (status !== 200) throw new Error(`enrolment of ${name}: ${JSON.stringify(body)}`);
  return body.token;
}

/** Enters an agent and enrols it. */
export async function enrolHost(test: TestDeployments, name: string, instance: string): Promise<TestHost> {
  const token = await newToken(test, name, instance);
  const answer = await test.agents.enrolAgent({
    token,
    signingRequest: await signingRequest(),
    aboutJson: aboutJson(),
  });
  return {
    name,
    id: answer.agent!.agentId,
    serial: serialOf(answer.certificate),
    certificate: new X509Certificate(answer.certificate),
    authorities: answer.authorities,
  };
}

let processes = 0;

/** Opens a stream of a host at a gateway; returns its epoch. */
export async function admit(
  test: TestDeployments,
  host: Pick<TestHost, 'id' | 'serial'>,
  gatewayId = 'gateway-1',
  processId = `process-${++processes}`,
): Promise<number> {
  const about = { agentId: host.id, serial: host.serial, gatewayId, processId, aboutJson: aboutJson() };
  return (await test.agents.admitAgent(about)).epoch;
}
