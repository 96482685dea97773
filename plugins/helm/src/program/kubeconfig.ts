import type { Connection } from 'cloudify-kubernetes-plugin/cluster';
import { stringify } from 'yaml';

const base64 = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text).toString('base64');

/** The file for helm: only what the connection says, so that nothing of an author's file reaches helm (no programs, no paths). */
export function kubeconfigOf({ server, token, basic, tls, proxy, namespace }: Connection): string {
  const cluster = {
    server,
    'certificate-authority-data': tls.verify === false ? undefined : base64(tls.ca),
    'insecure-skip-tls-verify': tls.verify === false ? true : undefined,
    'tls-server-name': tls.serverName,
    'proxy-url': proxy,
  };
  const user = {
    token,
    username: token === undefined ? basic?.user : undefined,
    password: token === undefined ? basic?.password : undefined,
    'client-certificate-data': base64(tls.cert),
    'client-key-data': base64(tls.key),
  };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'baton', cluster }],
    users: [{ name: 'baton', user }],
    contexts: [{ name: 'baton', context: { cluster: 'baton', user: 'baton', namespace } }],
    'current-context': 'baton',
  });
}
