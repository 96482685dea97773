// Checks every Kubernetes document and the compose file against their schemas and against the code that they run: a misspelt
// field, port, label, variable or image fails here, without a cluster.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redisRules, redisUsers } from '@baton/cache';
import { managerServices } from '@baton/contracts';
import Ajv from 'ajv';
import * as yaml from 'js-yaml';
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: documents of many kinds, checked by the schema.
type Doc = any;

const root = join(__dirname, '..', '..');
const schema = JSON.parse(readFileSync(join(__dirname, 'schema.json'), 'utf8'));
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(schema, 'k8s');

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const documents = (text: string) => yaml.loadAll(text).filter((doc) => doc !== null) as Doc[];

function rendered(overlay: string): Doc[] {
  const run = spawnSync('kubectl', ['kustomize', join(root, 'k8s/overlays', overlay)], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`kubectl kustomize ${overlay}: ${run.stderr ?? run.error?.message}`);
  return documents(run.stdout);
}

function problems(doc: Doc): string[] {
  // Checked by tls.test.ts.
  if (doc.apiVersion === 'cert-manager.io/v1') return [];
  const validate = ajv.getSchema(`k8s#/definitions/Kind${doc.kind}`);
  if (!validate) return [`${doc.kind} ${doc.metadata?.name}: no schema of this kind`];
  if (validate(doc)) return [];
  return (validate.errors ?? []).map(
    (e) => `${doc.kind} ${doc.metadata.name}${e.instancePath}: ${e.message} ${JSON.stringify(e.params)}`,
  );
}

/** Returns the variables that the code reads, from the sources of the configuration schemas. */
function knownVariables(): Set<string> {
  const files = [
    'packages/service-runtime/src/config/runtime-config.ts',
    'apps/standalone/src/migrate-config.ts',
  ];
  for (const service of readdirSync(join(root, 'services'))) files.push(`services/${service}/src/config.ts`);
  return new Set([
    // Variables of the interpreter, and of the scripts of a worker.
    'NODE_EXTRA_CA_CERTS',
    'LOCAL_REST_CERT_FILE',
    ...files
      .filter((file) => existsSync(join(root, file)))
      .flatMap((file) => read(file).match(/\b(?:BATON_[A-Z0-9_]+|DATABASE_URL|AMQP_URL|REDIS_URL)\b/g) ?? []),
  ]);
}

/** Returns the name of the port that a probe uses: a gRPC probe contains only its number. */
const probedPort = (container: Doc, probe: Doc): string | undefined =>
  probe.grpc
    ? container.ports.find((port: Doc) => port.containerPort === probe.grpc.port)?.name
    : probe.httpGet.port;

/** Whether the variable contains only the path of a key, not the key. */
const namesNoSecret = (variable: string): boolean => /^BATON_(IDENTITY|\w+_FILE)$/.test(variable);

const images = new Set(
  [...read('deploy/Dockerfile').matchAll(/^FROM runtime AS (\S+)$/gm)].map((match) => `baton/${match[1]}`),
);

test('images are built on a base that the builder names by digest, as nobody, and tell their health', () => {
  const file = read('deploy/Dockerfile');
  const bases = [...file.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
  expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}', 'runtime', 'scratch']));
  expect(file).toMatch(/^ARG NODE_IMAGE$/m);
  const users = [...file.matchAll(/^USER (\S+)/gm)].map((match) => match[1]);
  expect(users.at(-1)).toBe('10001:10001');
  expect(file).toMatch(/^HEALTHCHECK .*healthcheck\.js/m);
});

test('images install by the lock file what the bundles leave out, nothing more', () => {
  const { dependencies } = JSON.parse(read('deploy/runtime/package.json'));
  const outside = read('tools/build.mjs').match(/runtimePackages = \{([\s\S]*?)\}/)?.[1] ?? '';
  const named = [...outside.matchAll(/^ {2}'?([@\w/-]+)'?:/gm)].map((match) => match[1]!);
  const runtime = JSON.parse(read('packages/service-runtime/package.json')).dependencies;
  const traced = Object.keys(runtime).filter((name) => name.startsWith('@opentelemetry/'));
  expect(Object.keys(dependencies).sort()).toEqual([...new Set([...named, ...traced])].sort());
  const file = read('deploy/Dockerfile');
  expect(file).not.toMatch(/\bnpm (install|i|ci)\b/);
  expect(file).toContain('deploy --prod --legacy --ignore-scripts');
});

describe.each(['dev', 'prod', 'prod-tls'])('overlay %s', (overlay) => {
  const docs = rendered(overlay);
  const byKind = (kind: string) => docs.filter((doc) => doc.kind === kind);
  const pods = [...byKind('Deployment'), ...byKind('Job')];

  test('every document fits the API, unknown fields included', () => {
    expect(docs.length).toBeGreaterThan(30);
    expect(docs.flatMap(problems)).toEqual([]);
  });

  test('services and budgets select pods that exist, on ports that they open', () => {
    const wrong = [...byKind('Service'), ...byKind('PodDisruptionBudget')].filter((doc) => {
      const wanted = doc.spec.selector.matchLabels ?? doc.spec.selector;
      const target = pods.find((pod) =>
        Object.entries(wanted).every(([key, value]) => pod.spec.template.metadata.labels[key] === value),
      );
      const open = target?.spec.template.spec.containers[0].ports?.map((port: Doc) => port.name) ?? [];
      return !target || (doc.spec.ports ?? []).some((port: Doc) => !open.includes(port.targetPort));
    });
    expect(wrong.map((doc) => doc.metadata.name)).toEqual([]);
  });

  test('probes use open ports, images are built, containers run without privileges', () => {
    for (const pod of pods.filter((doc) => doc.spec.template.spec.containers[0].image.startsWith('baton/'))) {
      const [container] = pod.spec.template.spec.containers;
      const open = (container.ports ?? []).map((port: Doc) => port.name);
      for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
        if (probe) expect(open).toContain(probedPort(container, probe));
      }
      expect(images).toContain(container.image.split(':')[0]);
      expect(pod.spec.template.spec.securityContext.runAsNonRoot).toBe(true);
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
      });
      expect(container.securityContext.capabilities).toEqual({ drop: ['ALL'] });
      expect(pod.spec.template.spec.securityContext.seccompProfile).toBeDefined();
      expect(container.resources.limits).toMatchObject({
        memory: expect.anything(),
        'ephemeral-storage': expect.anything(),
      });
    }
  });

  test('nothing goes out of a pod that no policy lists, and nowhere to the metadata of a cloud', () => {
    const policies = byKind('NetworkPolicy').filter((doc) => doc.spec.policyTypes.includes('Egress'));
    const deny = policies.find((doc) => Object.keys(doc.spec.podSelector).length === 0);
    expect(deny).toBeDefined();
    expect(deny.spec.egress).toBeUndefined();
    const blocks = policies.flatMap((doc) =>
      (doc.spec.egress ?? []).flatMap((rule: Doc) => (rule.to ?? []).flatMap((to: Doc) => to.ipBlock ?? [])),
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(block.except).toContain('169.254.0.0/16');
  });

  test('the namespace admits no privileged pod; health and metrics are not on the port of users', () => {
    const [namespace] = byKind('Namespace');
    expect(namespace.metadata.labels['pod-security.kubernetes.io/enforce']).toMatch(
      /^(restricted|baseline)$/,
    );
    for (const { spec } of byKind('Deployment').filter((doc) =>
      doc.spec.template.spec.containers[0].image.startsWith('baton/'),
    )) {
      const [container] = spec.template.spec.containers;
      const ops = container.ports.find((port: Doc) => port.name === 'ops');
      expect(spec.template.metadata.annotations['prometheus.io/port']).toBe(String(ops.containerPort));
      for (const probe of [container.startupProbe, container.livenessProbe])
        expect(probe.httpGet.port).toBe('ops');
      // A service with an rpc port is probed there for readiness, unless that needs a certificate.
      const serves = container.ports.some((port: Doc) => port.name === 'rpc') && overlay !== 'prod-tls';
      expect(probedPort(container, container.readinessProbe)).toBe(serves ? 'rpc' : 'ops');
      expect(container.readinessProbe.grpc !== undefined).toBe(serves);
    }
  });

  test('every variable is one that the code reads, and secrets come from references', () => {
    const known = knownVariables();
    const set = byKind('ConfigMap').flatMap((doc) => Object.keys(doc.data));
    const referenced = pods.flatMap((pod) =>
      pod.spec.template.spec.containers.flatMap((c: Doc) =>
        c.image.startsWith('baton/') ? (c.env ?? []) : [],
      ),
    );
    expect(
      [...set, ...referenced.map((entry: Doc) => entry.name)].filter((name) => !known.has(name)),
    ).toEqual([]);
    for (const entry of referenced.filter(({ name }: Doc) => !namesNoSecret(name)))
      expect(entry.value).toBeUndefined();
  });

  test('what scales exists', () => {
    for (const doc of byKind('HorizontalPodAutoscaler')) {
      expect(byKind('Deployment').map((one) => one.metadata.name)).toContain(doc.spec.scaleTargetRef.name);
    }
  });
});

test('a wrong field in a manifest would be found', () => {
  const [good] = documents(read('k8s/base/gateway.yaml'));
  const bad = structuredClone(good);
  bad.spec.replicas = 'two';
  bad.spec.template.spec.containers[0].imagee = 'x';
  expect(problems(good)).toEqual([]);
  expect(problems(bad).join('\n')).toMatch(/replicas.*number[\s\S]*imagee|imagee[\s\S]*replicas.*number/);
});

const composeService = z.strictObject({
  image: z.string(),
  build: z
    .strictObject({
      context: z.string(),
      dockerfile: z.string(),
      target: z.string(),
      args: z.strictObject({ NODE_IMAGE: z.literal('${NODE_IMAGE}') }),
    })
    .optional(),
  hostname: z.string().optional(),
  restart: z.string(),
  profiles: z.array(z.string()),
  environment: z.record(z.string(), z.string()).optional(),
  command: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  networks: z.array(z.enum(['edge', 'inner'])).optional(),
  network_mode: z.literal('none').optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  pids_limit: z.number().optional(),
  mem_limit: z.string().optional(),
  tmpfs: z.array(z.string()).optional(),
  shm_size: z.string().optional(),
  user: z.string().optional(),
  ulimits: z.object({ nofile: z.object({ soft: z.number(), hard: z.number() }) }).optional(),
  depends_on: z
    .union([
      z.array(z.string()),
      z.record(
        z.string(),
        z.strictObject({ condition: z.enum(['service_started', 'service_completed_successfully']) }),
      ),
    ])
    .optional(),
  healthcheck: z
    .object({ test: z.array(z.string()), interval: z.string() })
    .loose()
    .optional(),
});

/** Returns the variables of each process that point to a server. */
const addresses = (environment: Record<string, string> = {}) =>
  Object.entries(environment).filter(([name]) => /^(DATABASE|REDIS)_URL/.test(name));

test('no process but the job that migrates gets the owner of the database, and each service a user of its own', () => {
  const compose = yaml.load(read('docker-compose.yml')) as Doc;
  const services = Object.entries(compose.services as Record<string, Doc>).filter(([, one]) => one.build);
  const users = services.flatMap(([name, { environment }]) =>
    addresses(environment).map(([variable, url]) => [name, variable, /^\w+:\/\/([^:]+):/.exec(url)![1]!]),
  );
  const schemas = ['identity', 'catalog', 'deployments', 'executions', 'secrets', 'cluster-status'];
  expect(users.sort()).toEqual(
    [
      ['migrate', 'DATABASE_URL', 'baton'],
      ['gateway', 'REDIS_URL', redisUsers.gateway.name],
      ['catalog', 'REDIS_URL', redisUsers.catalog.name],
      ...schemas.map((name) => [name, 'DATABASE_URL', `baton_${name.replace('-', '_')}`]),
    ].sort(),
  );
  const keys = rendered('dev').flatMap((doc) =>
    (doc.kind === 'Deployment' ? doc.spec.template.spec.containers : []).flatMap((container: Doc) =>
      (container.env ?? [])
        .filter((entry: Doc) => /^(DATABASE|REDIS)_URL/.test(entry.name))
        .map((entry: Doc) => [doc.metadata.name, entry.valueFrom.secretKeyRef.key]),
    ),
  );
  expect(keys.sort()).toEqual(
    [
      ['gateway', 'redis-url-gateway'],
      ['catalog', 'redis-url-catalog'],
      ...schemas.map((name) => [name, `database-url-${name}`]),
    ].sort(),
  );
});

test('workers join with their token and get no key, no way into the database and no secret; services get theirs', () => {
  const secret =
    /^(BATON_INTERNAL_KEY|BATON_SECRETS_KEY|BATON_ADMIN_PASSWORD|DATABASE_URL|REDIS_URL|BATON_S3_\w*KEY\w*)$/;
  const compose = (yaml.load(read('docker-compose.yml')) as Doc).services as Record<string, Doc>;
  const given = Object.entries(compose)
    .filter(([, { build, environment }]) => build && environment)
    .map(([name, { environment }]) => [name, Object.keys(environment)] as [string, string[]]);
  const k8s = rendered('prod').flatMap((doc) =>
    doc.kind === 'Deployment'
      ? [
          [doc.metadata.name, doc.spec.template.spec.containers[0].env.map((entry: Doc) => entry.name)] as [
            string,
            string[],
          ],
        ]
      : [],
  );
  for (const [name, variables] of [...given, ...k8s]) {
    if (name === 'migrate') continue;
    expect([name, variables.includes('BATON_WORKER_JOIN_TOKEN')]).toEqual([
      name,
      name === 'worker' || name === 'executions',
    ]);
    if (name === 'worker') expect(variables.filter((variable) => secret.test(variable))).toEqual([]);
    else expect(variables).toContain('BATON_INTERNAL_KEY');
  }
  const shared = rendered('prod')
    .filter((doc) => doc.kind === 'ConfigMap')
    .flatMap((doc) => Object.keys(doc.data));
  expect(shared.filter((variable) => secret.test(variable))).toEqual([]);
  // Every variable that docker-compose.yml requires must be explained.
  const example = read('deploy/env.example');
  for (const [, name] of read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)(?:\}|:\?)/g))
    expect(example).toContain(`${name}=`);
});

test('each service has a user of its own at RabbitMQ, and the administrator is for the job that migrates', () => {
  const all = [...managerServices, 'worker'];
  const compose = (yaml.load(read('docker-compose.yml')) as Doc).services as Record<string, Doc>;
  const userOf = (url: string) => /^amqp:\/\/([^:]+):\$\{(\w+)\}@/.exec(url)?.slice(1, 3);
  const expected = (service: string) => [
    `baton-${service}`,
    `RABBITMQ_PASSWORD_${service.toUpperCase().replace('-', '_')}`,
  ];
  const variable = (service: string) => `BATON_AMQP_URL_${service.toUpperCase().replace('-', '_')}`;
  for (const service of all) {
    expect(userOf(compose[service]!.environment.AMQP_URL)).toEqual(expected(service));
    expect(userOf(compose.migrate!.environment[variable(service)])).toEqual(expected(service));
    expect(compose[service]!.environment.BATON_AMQP_TOPOLOGY).toBe('check');
    expect(JSON.stringify(compose[service])).not.toMatch(/RABBITMQ_PASSWORD\}|RABBITMQ_API/);
    expect(read('deploy/env.example')).toContain(`\n${expected(service)[1]}=\n`);
  }
  const docs = rendered('dev');
  const secretsOf = (kind: string, name: string) =>
    docs
      .find((doc) => doc.kind === kind && doc.metadata.name === name)!
      .spec.template.spec.containers[0].env.filter((entry: Doc) => /AMQP|RABBIT/.test(entry.name))
      .map((entry: Doc) => [entry.name, entry.valueFrom.secretKeyRef.key]);
  for (const service of all)
    expect(secretsOf('Deployment', service)).toEqual([['AMQP_URL', `amqp-url-${service}`]]);
  expect(secretsOf('Job', 'migrate').sort()).toEqual(
    [
      ['BATON_RABBITMQ_API_URL', 'rabbitmq-api-url'],
      ...all.map((service) => [variable(service), `amqp-url-${service}`]),
    ].sort(),
  );
});

test('each service signs with a key of its own, which no other process is given but the job that makes it', () => {
  const compose = (yaml.load(read('docker-compose.yml')) as Doc).services as Record<string, Doc>;
  const mountsOf = (name: string): string[] =>
    ((compose[name]!.volumes ?? []) as string[]).filter((volume) => volume.startsWith('identity-'));
  const identities = Object.keys(compose).filter((name) => name !== 'keys' && mountsOf(name).length > 0);
  expect(identities.sort()).toEqual([...managerServices].sort());
  for (const name of managerServices) {
    expect(mountsOf(name)).toEqual([`identity-${name}:/run/baton-identity:ro`]);
    expect(mountsOf('keys')).toContain(`identity-${name}:/keys/${name}`);
    expect(read('deploy/Dockerfile')).toMatch(new RegExp(`install -d .* /keys/${name}\\b`));
    expect(compose[name]!.environment.BATON_IDENTITY).toBe('files');
  }
  const pods = rendered('prod').filter((doc) => doc.kind === 'Deployment');
  const secretsOf = ({ spec }: Doc): string[] =>
    spec.template.spec.volumes
      .flatMap(({ secret }: Doc) => secret?.secretName ?? [])
      .filter((name: string) => name.startsWith('baton-identity-'));
  for (const pod of pods) {
    const name = pod.metadata.name as string;
    expect([name, secretsOf(pod)]).toEqual([name, name === 'worker' ? [] : [`baton-identity-${name}`]]);
  }
});

test('Redis knows the users of the code, and nobody without a password', () => {
  const compose = (yaml.load(read('docker-compose.yml')) as Doc).services.redis.command as string[];
  const dev = rendered('dev').find((doc) => doc.kind === 'Deployment' && doc.metadata.name === 'redis')!;
  for (const args of [compose, dev.spec.template.spec.containers[0].args as string[]]) {
    // One word per argument: the server would treat a rule in one argument as a name.
    const users = args.join(' ').split(' --user ').slice(1);
    expect(args.filter((arg) => arg.includes(' '))).toEqual([]);
    expect(users).toHaveLength(3);
    expect(users[0]).toBe('default off');
    for (const service of ['gateway', 'catalog'] as const)
      expect(users.find((user) => user.startsWith(redisUsers[service].name))).toMatch(
        new RegExp(`^\\S+ on >\\S+ ${redisRules(service).replace(/[*+]/g, '\\$&')}$`),
      );
  }
});

test('the compose file is well-formed, builds every image and sets only variables that the code reads', () => {
  const file = yaml.load(read('docker-compose.yml')) as Doc;
  const services = z.record(z.string(), composeService).parse(file.services);
  const built = Object.values(services).flatMap((service) =>
    service.build ? [`baton/${service.build.target}`] : [],
  );
  expect(new Set(built)).toEqual(images);
  const known = knownVariables();
  for (const [name, service] of Object.entries(services)) {
    const before = service.depends_on ?? [];
    for (const target of Array.isArray(before) ? before : Object.keys(before))
      expect(Object.keys(services)).toContain(target);
    for (const volume of service.volumes ?? [])
      expect(Object.keys(file.volumes)).toContain(volume.split(':')[0]);
    // Only the API is reachable from outside.
    expect([name, service.ports !== undefined]).toEqual([name, name === 'gateway']);
    if (!service.build) continue;
    expect([name, service]).toMatchObject([
      name,
      { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
    ]);
    expect([service.pids_limit, service.mem_limit]).not.toContain(undefined);
    expect([
      name,
      ...Object.keys(service.environment ?? {}).filter((variable) => !known.has(variable)),
    ]).toEqual([name]);
  }
});
