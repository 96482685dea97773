import { testNode } from '@baton/plugin-sdk/testing';
import { type KubeDouble, startKubeDouble } from '@baton/testkit/kube-double';
import { parse, stringify } from 'yaml';
import plugin from '../plugin';
import { readKubeconfig } from './kubeconfig';

const TYPE = 'cloudify.nodes.kubernetes.resources.BlueprintDefinedResource';
const definition = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };

let double: KubeDouble;
beforeAll(async () => {
  double = await startKubeDouble();
});
afterAll(async () => await double.stop());
afterEach(() => {
  double.intercept = null;
});

const node = (client_config: object, files: Record<string, string> = {}) =>
  testNode(plugin, TYPE, { properties: { definition, client_config } as never, files });

const text = (values: object): string => stringify(values);
const kubeconfig = (): {
  users: [{ user: Record<string, unknown> }];
  clusters: [{ cluster: Record<string, unknown> }];
} => parse(double.kubeconfig());

describe('client_config', () => {
  it.each([
    ['a kubeconfig in the blueprint', () => ({ configuration: { blueprint_file_name: 'kube.yaml' } })],
    ['a kubeconfig as a dictionary', () => ({ configuration: { file_content: kubeconfig() } })],
    [
      'host, token and authority',
      () => ({
        configuration: {
          api_options: { host: double.url, api_key: double.token, ssl_ca_cert: double.tls.ca },
        },
      }),
    ],
    [
      'certificates in files',
      () => ({
        configuration: {
          api_options: {
            host: double.url,
            ssl_ca_cert: 'ca.pem',
            cert_file: 'cert.pem',
            key_file: 'key.pem',
          },
        },
      }),
    ],
    [
      'a server that is not verified, and the token of a service account',
      () => ({
        configuration: { api_options: { host: double.url.replace('https://', ''), verify_ssl: 'false' } },
        authentication: { service_account_token: double.token },
      }),
    ],
  ])('may be %s', async (_, config) => {
    const { ca, cert, key } = double.tls;
    const files = { 'kube.yaml': double.kubeconfig(), 'ca.pem': ca, 'cert.pem': cert, 'key.pem': key };
    await node(config(), files).run('create');
  });

  it.each([
    ['nothing', {}, 'the node has no client_config, and no relationship'],
    ['no host', { configuration: { api_options: { api_key: 'x' } } }, 'api_options.host is missing'],
    [
      'Google Cloud',
      { authentication: { gcp_service_account: '{}' } },
      'needs the token service of Google Cloud',
    ],
    ['Azure', { authentication: { azure_service_account: { a: 'b' } } }, 'needs the API of Azure'],
    ['AWS', { authentication: { aws_access_key_id: 'x' } }, 'needs the token service of AWS'],
    ['a file that is no kubeconfig', { configuration: { file_content: 'a: b' } }, 'current-context is ""'],
    [
      'credentials in clear',
      { configuration: { api_options: { host: 'http://10.0.0.1', api_key: 'token' } } },
      'would show the credentials',
    ],
    ['a device', { configuration: { manager_file_path: '/dev/zero' } }, '/dev/zero is no file of at most'],
  ])('with %s is refused', async (_, config, message) => {
    await expect(node(config).run('create')).rejects.toThrow(message);
  });

  it('does not believe a server with another authority', async () => {
    const api_options = { host: double.url, api_key: double.token };
    await expect(node({ configuration: { api_options } }).run('create')).rejects.toThrow(/certificate/i);
  });
});

describe('a hostile kubeconfig', () => {
  it.each([
    [
      'exec',
      { exec: { command: '/bin/sh', args: ['-c', 'touch /tmp/x'] } },
      'credentials from a program (exec: /bin/sh)',
    ],
    [
      'auth-provider',
      { 'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh' } } },
      'auth-provider: gcp',
    ],
    ['a file as token', { tokenFile: '/etc/shadow' }, 'tokenFile names a file'],
    ['a file as key', { 'client-key': '/keys/id_rsa' }, 'client-key names a file'],
  ])('with %s runs and reads nothing', (_, user, message) => {
    const config = kubeconfig();
    config.users[0].user = user;
    expect(() => readKubeconfig(text(config), 'the kubeconfig')).toThrow(message);
  });

  it('that cannot be read shows none of its lines', () => {
    expect(() => readKubeconfig('token: "open sesame\n: [', 'the kubeconfig')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sesame') }),
    );
  });
});

describe('a hostile server', () => {
  it('gets the token in no error and no log line', async () => {
    double.intercept = (request, response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', message: `you sent ${request.headers.authorization}` }));
      return true;
    };
    const one = node({ configuration: { file_content: double.kubeconfig() } });
    const error = await one.run('create').catch((thrown: Error) => thrown);
    expect(String(error)).toContain('you sent Bearer ********');
    expect(JSON.stringify(one.log) + String((error as Error).stack)).not.toContain(double.token);
  });

  it('that answers without end is cut off', async () => {
    double.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const more = (): void => {
        while (response.write(piece)) if (response.destroyed) return;
        response.once('drain', more);
      };
      more();
      return true;
    };
    await expect(
      node({ configuration: { file_content: double.kubeconfig() } }).run('create'),
    ).rejects.toThrow(/bytes/);
  });

  it('cannot send the token elsewhere', async () => {
    const seen: string[] = [];
    const other = await startKubeDouble({ isPlain: true });
    other.intercept = (request) => {
      seen.push(String(request.headers.authorization));
      return false;
    };
    double.intercept = (request, response) => {
      response.writeHead(307, { location: `${other.url}${request.url}` });
      response.end();
      return true;
    };
    await expect(
      node({ configuration: { file_content: double.kubeconfig() } }).run('create'),
    ).rejects.toThrow();
    await other.stop();
    expect(seen).toEqual([]);
  });

  it('that answers something else is named', async () => {
    double.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"resources": 7}');
      return true;
    };
    await expect(
      node({ configuration: { file_content: double.kubeconfig() } }).run('create'),
    ).rejects.toThrow('is this the API of Kubernetes?');
  });
});
