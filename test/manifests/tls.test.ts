// TLS of Kubernetes (overlay prod-tls) and of compose (docker-compose.tls.yml). Each process gets a configuration that its own
// schema accepts under BATON_TLS=required. Every file that it names is mounted, and every called name is in a certificate.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { managerServices, type ServiceName } from '@baton/contracts';
import { type ConfigSchema, loadConfig, schemaOf, transportProblems } from '@baton/service-runtime';
import * as yaml from 'js-yaml';
import { z } from 'zod';
import { migrateConfig } from '../../apps/standalone/src/migrate-config';
import * as catalog from '../../services/catalog/src/config';
import * as clusterStatus from '../../services/cluster-status/src/config';
import * as deployments from '../../services/deployments/src/config';
import * as executions from '../../services/executions/src/config';
import * as gateway from '../../services/gateway/src/config';
import * as identity from '../../services/identity/src/config';
import * as secrets from '../../services/secrets/src/config';
import * as worker from '../../services/worker/src/config';

// biome-ignore lint/suspicious/noExplicitAny: documents of many kinds.
type Doc = any;
type Env = Record<string, string>;

const root = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const schemas: Record<ServiceName | 'migrate', ConfigSchema> = {
  gateway: gateway.configSchema,
  identity: identity.configSchema,
  catalog: catalog.configSchema,
  deployments: deployments.configSchema,
  executions: executions.configSchema,
  secrets: secrets.configSchema,
  'cluster-status': clusterStatus.configSchema,
  worker: worker.configSchema,
  migrate: migrateConfig as unknown as ConfigSchema,
};
const processes = Object.keys(schemas) as (keyof typeof schemas)[];

/** Returns the problems that the process reports about its environment at its start. */
function problemsOf(name: keyof typeof schemas, env: Env): string[] {
  const isService = name !== 'migrate';
  return transportProblems(loadConfig(schemas[name], env), {
    hasDatabase: !isService || schemaOf(name as ServiceName) !== null,
    isEdge: name === 'gateway',
    isService,
  });
}

const FILES =
  /^(BATON_(TLS|HTTPS|SERVERS)_\w+_FILE|NODE_EXTRA_CA_CERTS|LOCAL_REST_CERT_FILE|BATON_WORKER_SHARED_PATHS)$/;
const filesIn = (env: Env) =>
  Object.entries(env)
    .filter(([name]) => FILES.test(name))
    .map(([, file]) => file);
/** Returns the hosts that the process calls with the services' TLS. */
const hostsIn = (env: Env) =>
  Object.entries(env).flatMap(([name, value]) =>
    /^BATON_(HTTP_|RPC_|WORKER_MANAGER_URL)/.test(name) && /[a-z]/.test(value)
      ? [value.replace(/^https:\/\//, '').split(':')[0]!]
      : [],
  );

// https://cert-manager.io/docs/reference/api-docs/: only the fields that are used here.
const metadata = z.looseObject({ name: z.string(), namespace: z.string() });
const hours = z.string().regex(/^\d+h$/);
const certManager = {
  Issuer: z.strictObject({
    apiVersion: z.literal('cert-manager.io/v1'),
    kind: z.literal('Issuer'),
    metadata,
    spec: z.union([
      z.strictObject({ selfSigned: z.strictObject({}) }),
      z.strictObject({ ca: z.strictObject({ secretName: z.string() }) }),
    ]),
  }),
  Certificate: z.strictObject({
    apiVersion: z.literal('cert-manager.io/v1'),
    kind: z.literal('Certificate'),
    metadata,
    spec: z.strictObject({
      secretName: z.string(),
      isCA: z.literal(true).optional(),
      commonName: z.string().max(64),
      dnsNames: z.array(z.string()).min(1).optional(),
      duration: hours,
      renewBefore: hours,
      privateKey: z.strictObject({
        algorithm: z.enum(['ECDSA', 'RSA', 'Ed25519']),
        size: z.number(),
        rotationPolicy: z.enum(['Always', 'Never']),
      }),
      usages: z.array(z.enum(['digital signature', 'cert sign', 'crl sign', 'server auth', 'client auth'])),
      issuerRef: z.strictObject({
        name: z.string(),
        kind: z.literal('Issuer'),
        group: z.literal('cert-manager.io'),
      }),
    }),
  }),
};

describe('overlay prod-tls', () => {
  const run = spawnSync('kubectl', ['kustomize', join(root, 'k8s/overlays/prod-tls')], { encoding: 'utf8' });
  const docs = (yaml.loadAll(run.stdout) as Doc[]).filter((doc) => doc !== null);
  const byKind = (kind: string) => docs.filter((doc) => doc.kind === kind);
  const podOf = (name: string) =>
    [...byKind('Deployment'), ...byKind('Job')].find((doc) => doc.metadata.name === name).spec.template.spec;
  const certificates = byKind('Certificate');
  const ofSecret = (secret: string) => certificates.find((doc) => doc.spec.secretName === secret)?.spec;

  /** Returns a value of the secret `baton` as described in k8s/README.md: addresses for TLS. */
  const secret = (key: string): string => {
    if (key.startsWith('database-url')) return 'postgres://u:p@db.example.org/baton?sslmode=verify-full';
    if (key.startsWith('amqp-url')) return 'amqps://u:p@mq.example.org';
    if (key.startsWith('redis-url')) return 'rediss://u:p@cache.example.org';
    return key === 'secrets-key' ? Buffer.alloc(32, 1).toString('base64') : 'sixteen characters';
  };
  const envOf = (name: string): Env => {
    const [container] = podOf(name).containers;
    const maps = (container.envFrom ?? []).map(({ configMapRef }: Doc) =>
      byKind('ConfigMap').find((doc) => doc.metadata.name === configMapRef.name),
    );
    const own = (container.env ?? []).map(({ name: variable, value, valueFrom }: Doc) => [
      variable,
      value ?? (valueFrom.secretKeyRef ? secret(valueFrom.secretKeyRef.key) : 'pod'),
    ]);
    return Object.assign({}, ...maps.map((map: Doc) => map.data), Object.fromEntries(own));
  };

  test('issuers and certificates have the fields of cert-manager, in the namespace of the rest', () => {
    expect(run.status).toBe(0);
    expect(certificates.length).toBe(managerServices.length + 3);
    for (const doc of [...byKind('Issuer'), ...certificates]) {
      certManager[doc.kind as 'Issuer'].parse(doc);
      expect(doc.metadata.namespace).toBe('baton');
    }
    const issuers = byKind('Issuer').map((doc) => doc.metadata.name);
    for (const { spec } of certificates) {
      expect(issuers).toContain(spec.issuerRef.name);
      expect(Number.parseInt(spec.renewBefore, 10)).toBeLessThan(Number.parseInt(spec.duration, 10));
    }
    const authority = byKind('Issuer').find((doc) => doc.spec.ca)!.spec.ca.secretName;
    expect(ofSecret(authority)).toMatchObject({ isCA: true });
    // The control: a misspelt field must be found.
    const bad = structuredClone(certificates[0]);
    bad.spec.dnsNamez = ['x'];
    expect(certManager.Certificate.safeParse(bad).success).toBe(false);
  });

  test.each(processes)('%s starts under BATON_TLS=required, and would not with a plain address', (name) => {
    const env = envOf(name);
    expect(env.BATON_TLS).toBe('required');
    expect(problemsOf(name, env)).toEqual([]);
    const plain: Env =
      name === 'worker' || name === 'gateway'
        ? { AMQP_URL: 'amqp://u:p@mq' }
        : { DATABASE_URL: 'postgres://u:p@db/b' };
    expect(problemsOf(name, { ...env, ...plain })).toHaveLength(1);
  });

  test.each(processes)('%s has the files mounted that it names, and those of its own name', (name) => {
    const { containers, volumes } = podOf(name);
    const mounts = containers[0].volumeMounts as { name: string; mountPath: string; readOnly?: boolean }[];
    const used =
      name === 'gateway'
        ? filesIn(envOf(name))
        : filesIn(envOf(name)).filter((file) => !file.includes('edge'));
    expect(used.length).toBeGreaterThan(0);
    for (const file of used) {
      const mount = mounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
      expect([file, mount?.readOnly]).toEqual([file, true]);
      const { secretName } = volumes.find((volume: Doc) => volume.name === mount!.name).secret;
      if (secretName === 'baton-servers-ca') continue;
      const { usages, dnsNames } = ofSecret(secretName);
      expect(usages).toContain('server auth');
      expect(dnsNames).toEqual([name]);
      if (secretName === `${name}-tls`) expect(usages).toContain('client auth');
    }
  });

  test('what is called is in a certificate, and probes speak TLS', () => {
    const names = certificates.flatMap(({ spec }) => spec.dnsNames ?? []);
    for (const name of processes) {
      for (const host of hostsIn(envOf(name)))
        expect([name, names.includes(host) ? host : `${host}?`]).toEqual([name, host]);
      if (name === 'migrate') continue;
      const [container] = podOf(name).containers;
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        expect([name, probe, container[probe].httpGet.scheme]).toEqual([name, probe, 'HTTPS']);
    }
  });
});

describe('docker-compose.tls.yml', () => {
  const base = (yaml.load(read('docker-compose.yml')) as Doc).services as Record<string, Doc>;
  const over = (yaml.load(read('docker-compose.tls.yml')) as Doc).services as Record<string, Doc>;
  const filled = (text: string) =>
    text
      .replace(/\$\{BATON_SECRETS_KEY\}/, Buffer.alloc(32, 1).toString('base64'))
      .replace(
        /\$\{\w+(:-([^}]*)|:\?[^}]*)?\}/g,
        (_all, _more, otherwise) => otherwise ?? 'sixteen-characters',
      );
  const envOf = (name: string): Env =>
    Object.fromEntries(
      Object.entries({ ...base[name]!.environment, ...over[name]?.environment } as Env).map(
        ([variable, value]) => [variable, filled(value)],
      ),
    );

  test.each(processes)('%s starts under BATON_TLS=required, with its files mounted', (name) => {
    const env = envOf(name);
    expect(problemsOf(name, env)).toEqual([]);
    expect(env.BATON_TLS).toBe('required');
    const mounts = (over[name]!.volumes as string[]).map(
      (volume) => /\/([\w-]+):(\/[\w-/]+):ro$/.exec(volume)!,
    );
    expect(mounts.map((mount) => mount[1])).toEqual(name === 'gateway' ? ['gateway', 'edge'] : [name]);
    for (const file of filesIn(env))
      expect([file, mounts.some((mount) => file.startsWith(`${mount[2]}/`))]).toEqual([file, true]);
    const made = [...managerServices, 'worker', 'migrate', 'postgres', 'rabbitmq', 'redis'];
    for (const host of hostsIn(env)) expect(made).toContain(host);
  });

  test('each address is that of docker-compose.yml with TLS: the same user, password and host', () => {
    for (const name of processes)
      for (const [variable, url] of Object.entries({ ...over[name]!.environment } as Env)) {
        if (!/(DATABASE|AMQP|REDIS)_URL/.test(variable)) continue;
        const plain = url
          .replace(/^(amqp|redis)s:/, '$1:')
          .replace(':5671', ':5672')
          .replace('?sslmode=verify-full', '');
        expect([name, variable, plain]).toEqual([name, variable, base[name]!.environment[variable]]);
      }
  });

  test('the servers take nothing plain from the network', () => {
    const hba = read('deploy/tls/pg_hba.conf')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(hba.map((line) => line.split(/\s+/)[0])).toEqual(['local', 'hostssl']);
    expect(over.postgres!.command).toEqual(
      expect.arrayContaining(['ssl=on', 'hba_file=/etc/postgresql/pg_hba.conf']),
    );
    expect(read('deploy/tls/rabbitmq.conf')).toMatch(/^listeners\.tcp = none$/m);
    expect(over.redis!.entrypoint.join(' ')).toContain('--port 0 --tls-port 6379');
    for (const server of ['postgres', 'rabbitmq', 'redis'])
      expect(over[server]!.volumes[0]).toBe(`\${BATON_CERTS:?is missing in .env}/${server}:/run/tls:ro`);
    // The job that creates keys has no network connections.
    expect(Object.keys(over)).toEqual(
      Object.keys(base).filter((name) => base[name]!.network_mode !== 'none'),
    );
  });
});
