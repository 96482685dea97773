import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, greetingServer } from '@baton/testkit';

/** A real vsftpd (Debian: vsftpd) at the loopback address, with an account that exists for it alone. */
export interface FtpServer {
  auth: { ip: string; port: number; user: string; password: string };
  /** Where the files are. */
  home: string;
  /** Its certificate, as PEM. */
  ca: string;
  stop(): Promise<void>;
}

const USER = 'ftpguest';
const PASSWORD = 'Geheim-4711';
/** Of PASSWORD, by `openssl passwd -6`. */
const HASH =
  '$6$batonsalt$con5DUj2eoc4/SKBFfHPVij864jEuT4wiebkDVs4fJpFtQgk2.nQ6ypmdVF5Keph35nBeMRFkcbM2fvPBBteK/';
const UID = 23_457;

/** Starts vsftpd in a mount namespace, where its account lies over those of the machine. Needs root. @throws Error */
export async function ftpServer(): Promise<FtpServer> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-ftp-'));
  chmodSync(folder, 0o755);
  const home = join(folder, 'home');
  mkdirSync(home);
  chownSync(home, UID, UID);
  const port = await freePort();
  const account = {
    passwd: `${USER}:x:${UID}:${UID}::${home}:/bin/bash\n`,
    shadow: `${USER}:${HASH}:19000:0:99999:7:::\n`,
  };
  for (const [name, line] of Object.entries(account))
    writeFileSync(join(folder, name), `${readFileSync(`/etc/${name}`, 'utf8')}${line}`);
  const certificate = join(folder, 'certificate.pem');
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', join(folder, 'key.pem'), '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  writeFileSync(join(folder, 'vsftpd.conf'), configOf(folder, port));
  mkdirSync('/var/run/vsftpd/empty', { recursive: true });
  const mounts = Object.keys(account).map((name) => `mount --bind ${join(folder, name)} /etc/${name}`);
  const server = greetingServer({
    command: 'unshare',
    args: ['--mount', 'sh', '-c', `${mounts.join(' && ')} && exec vsftpd ${folder}/vsftpd.conf`],
    port,
  });
  await server.start();
  return {
    auth: { ip: '127.0.0.1', port, user: USER, password: PASSWORD },
    home,
    ca: readFileSync(certificate, 'utf8'),
    stop: async () => {
      await server.stop('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configOf = (folder: string, port: number): string =>
  [
    ...['listen=YES', 'background=NO', 'listen_address=127.0.0.1', `listen_port=${port}`],
    ...[
      'anonymous_enable=NO',
      'local_enable=YES',
      'write_enable=YES',
      'pam_service_name=other',
      'local_umask=022',
    ],
    ...['chroot_local_user=YES', 'allow_writeable_chroot=YES', 'seccomp_sandbox=NO'],
    ...['ssl_enable=YES', 'force_local_logins_ssl=NO', 'force_local_data_ssl=NO', 'require_ssl_reuse=NO'],
    ...[`rsa_cert_file=${folder}/certificate.pem`, `rsa_private_key_file=${folder}/key.pem`],
    '',
  ].join('\n');
