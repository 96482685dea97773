import { generateKeyPairSync } from 'node:crypto';
import { Server, type ServerChannel } from 'ssh2';

/** A device that writes what a test wants. */
export interface OddDevice {
  auth: { ip: string; port: number; user: string; password: string; key_content: string };
  stop(): void;
}

type Answer = (line: string | null, write: (...pieces: string[]) => void, close: () => void) => void;

/** `answer` is called at the beginning with null, and then for each line. Each piece goes out by itself. */
export async function oddDevice(answer: Answer): Promise<OddDevice> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const hostKey = privateKey.export({ type: 'pkcs1', format: 'pem' });
  const server = new Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (login) => {
      if (login.method === 'password' && login.password === 'device-word') login.accept();
      else login.reject(['password']);
    });
    client.on('session', (accept) => {
      const session = accept();
      session.on('pty', (yes) => yes?.());
      session.on('shell', (yes) => speak(yes(), answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as { port: number };
  return {
    auth: { ip: '127.0.0.1', port, user: 'admin', password: 'device-word', key_content: '' },
    stop: () => void server.close(),
  };
}

function speak(channel: ServerChannel, answer: Answer): void {
  const write = (...pieces: string[]): void => {
    for (const piece of pieces) channel.write(piece);
  };
  const close = (): void => {
    channel.exit(0);
    channel.end();
  };
  channel.on('error', () => undefined);
  channel.on('data', (piece: Buffer) => {
    for (const line of piece.toString().split('\n').slice(0, -1)) answer(line, write, close);
  });
  answer(null, write, close);
}
