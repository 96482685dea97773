import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { InstallPackage, InstallScriptOptions } from '../script/options';

/** A program with the commands of baton-agent that the scripts use. The token `used` is refused. */
const PROGRAM = `#!/bin/sh
command=$1
shift
while [ $# -gt 0 ]; do
  case "$1" in
    --dir) dir=$2; shift 2 ;;
    --token-file) token=$2; shift 2 ;;
    --yes) shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
case "$command" in
  version) echo '9.9.1' ;;
  enrol)
    [ "$(stat -c %a "$token")" = 600 ] || { echo 'the token is open to others'; exit 1; }
    case "$(cat "$token")" in used) echo 'the token is refused'; exit 40 ;; nowhere) exit 41 ;; esac
    echo "enrolled as $(id -un)"
    echo certificate >"$dir/tls/agent.pem"
    echo once >>"$dir/enrolments"
    ;;
  uninstall) echo "$dir" >/run/ended ;;
  run | supervise) [ ! -f "$dir/../fails" ] || exit 1; while :; do sleep 1; done ;;
esac
`;

/** A manager that serves the package of an agent. */
export interface PackageServer {
  url: string;
  package: InstallPackage;
  /** Requests for the package, with their ranges. */
  asked: (string | undefined)[];
  /** Each answer ends after that many bytes; null: whole ones. */
  cutAfter: number | null;
  /** What is sent instead of the package. */
  other: Buffer | null;
  /** Options of a script for this manager. */
  options(more?: Partial<InstallScriptOptions>): InstallScriptOptions;
  stop(): Promise<void>;
}

export async function packageServer(): Promise<PackageServer> {
  const content = gzipSync(
    PROGRAM + `#${'x'.repeat(50_000)}\n`.replaceAll('x', () => Math.random().toString(36)[2] ?? 'y'),
  );
  const made: PackageServer = {
    url: '',
    package: {
      platform: process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64',
      version: '9.9.1',
      sha256: createHash('sha256').update(content).digest('hex'),
      size: content.length,
    },
    asked: [],
    cutAfter: null,
    other: null,
    options: (more = {}) => ({
      name: 'host_abc123',
      tenant: 'default_tenant',
      nodeInstanceId: 'host_abc123',
      addresses: [made.url],
      token: 'good',
      authorities: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      packages: [made.package],
      ...more,
    }),
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  const server: Server = createServer((request, response) => {
    if (request.url !== `/agent/v1/packages/${made.package.platform}`)
      return void response.writeHead(404).end();
    const { range } = request.headers;
    made.asked.push(range);
    const from = Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
    const body = (made.other ?? content).subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': body.length,
      'accept-ranges': 'bytes',
      connection: 'close',
      ...(from > 0 && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    });
    if (made.cutAfter === null || body.length <= made.cutAfter) response.end(body);
    else response.write(body.subarray(0, made.cutAfter), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}
